// The functions that people's SQL may call: those that compute from their arguments alone. Whatever reads files,
// settings, dictionaries, the network or the machine is not here. Names are in lower case; the engine tells case
// apart for some, so a name that differs only in case is at worst unknown to it.

const scalars = `
  abs accuratecast accuratecastordefault accuratecastornull acos acosh adddate adddays addhours addinterval
  addmicroseconds addmilliseconds addminutes addmonths addnanoseconds addquarters addseconds addtupleofintervals
  addweeks addyears age alphatokens and appendtrailingcharifabsent array array_remove array_to_string arrayall
  arrayauc arrayaucpr arrayautocorrelation arrayavg arraybottomk arraycompact arrayconcat arraycount arraycumsum
  arraycumsumnonnegative arraydifference arraydistinct arraydotproduct arrayelement arrayelementornull arrayenumerate
  arrayenumeratedense arrayenumeratedenseranked arrayenumerateuniq arrayenumerateuniqranked arrayexcept arrayexists
  arrayfill arrayfilter arrayfirst arrayfirstindex arrayfirstornull arrayflatten arrayfold arrayintersect
  arrayjaccardindex arrayjoin arraylast arraylastindex arraylastornull arraylevenshteindistance
  arraylevenshteindistanceweighted arraymap arraymax arraymin arraynormalizedgini arraypartialreversesort
  arraypartialshuffle arraypartialsort arraypopback arraypopfront arrayprauc arrayproduct arraypushback arraypushfront
  arrayreduce arrayreduceinranges arrayremove arrayresize arrayreverse arrayreversefill arrayreversesort
  arrayreversesplit arrayrocauc arrayrotateleft arrayrotateright arrayshiftleft arrayshiftright arrayshingles
  arrayshuffle arraysimilarity arrayslice arraysort arraysplit arraystringconcat arraysum arraysymmetricdifference
  arraytopk arraytranspose arrayunion arrayuniq arraywithconstant arrayzip arrayzipunaligned ascii asin asinh
  assumenotnull atan atan2 atanh avg2 bar base32decode base32encode base58decode base58encode base64decode
  base64encode base64urldecode base64urlencode basename bin bitand bitcount bithammingdistance bitmapand
  bitmapandcardinality bitmapandnot bitmapandnotcardinality bitmapbuild bitmapcardinality bitmapcontains bitmaphasall
  bitmaphasany bitmapmax bitmapmin bitmapor bitmaporcardinality bitmapsubsetinrange bitmapsubsetlimit bitmaptoarray
  bitmaptransform bitmapxor bitmapxorcardinality bitmasktoarray bitmasktolist bitnot bitor bitpositionstoarray
  bitrotateleft bitrotateright bitshiftleft bitshiftright bitslice bittest bittestall bittestany bitxor
  bytehammingdistance bytesize byteslice byteswap cardinality casefoldutf8 casewithoutexpr casewithoutexpression cast
  cbrt ceil ceiling changeday changehour changeminute changemonth changesecond changeyear char char_length
  character_length cityhash64 clamp coalesce comparesubstrings concat concat_ws concatassumeinjective
  concatwithseparator concatwithseparatorassumeinjective conv cos cosh cosinedistance cosinedistancetransposed
  cosinedistancetransposedquantized countdigits countequal countmatches countmatchescaseinsensitive countsubstrings
  countsubstringscaseinsensitive countsubstringscaseinsensitiveutf8 crc32 crc32ieee crc64 curdate current_date
  current_timestamp cutfragment cutquerystring cutquerystringandfragment cuttofirstsignificantsubdomain
  cuttofirstsignificantsubdomainrfc cuttofirstsignificantsubdomainwithwww cuttofirstsignificantsubdomainwithwwwrfc
  cuturlparameter cutwww dameraulevenshteindistance date date_bin date_diff date_format date_trunc datediff datename
  datetime64tosnowflakeid datetimetosnowflakeid datetimetouuidv7 datetrunc day dayofmonth dayofweek dayofyear
  decodehtmlcomponent decodeurlcomponent decodeurlformcomponent decodexmlcomponent defaultvalueofargumenttype degrees
  digits distancecosine distancecosinetransposed distancel1 distancel2 distancel2squared distancel2transposed
  distancelinf distancelp divide dividedecimal divideornull domain domainrfc domainwithoutwww domainwithoutwwwrfc
  dotproduct dotproducttransposed dotproducttransposedquantized dynamicelement dynamictype e editdistance
  editdistanceutf8 empty emptyarraydate emptyarraydatetime emptyarrayfloat32 emptyarrayfloat64 emptyarrayint16
  emptyarrayint32 emptyarrayint64 emptyarrayint8 emptyarraystring emptyarraytosingle emptyarrayuint16 emptyarrayuint32
  emptyarrayuint64 emptyarrayuint8 encodeurlcomponent encodeurlformcomponent encodexmlcomponent endswith
  endswithcaseinsensitive endswithcaseinsensitiveutf8 endswithutf8 equals erf erfc exp exp10 exp2 extract extractall
  extractallgroups extractallgroupshorizontal extractallgroupsvertical extractgroups extractkeyvaluepairs
  extractkeyvaluepairswithescaping extracturlparameter extracturlparameternames extracturlparameters factorial
  farmfingerprint64 farmhash64 firstline firstnondefault firstsignificantsubdomain firstsignificantsubdomainrfc
  flatten flattentuple floor format format_bytes formatdatetime formatdatetimeinjodasyntax formatreadabledecimalsize
  formatreadablequantity formatreadablesize formatreadabletimedelta fragment from_base64 from_days from_unixtime
  from_utc_timestamp fromdayssinceyearzero fromdayssinceyearzero32 frommodifiedjulianday frommodifiedjuliandayornull
  fromunixtimestamp fromunixtimestamp64micro fromunixtimestamp64milli fromunixtimestamp64nano
  fromunixtimestamp64second fromunixtimestampinjodasyntax fromutctimestamp gccmurmurhash gcd generateuuidv4
  generateuuidv7 greater greaterorequals greatest halfmd5 has hasall hasalltoken hasalltokens hasany hasanytoken
  hasanytokens hasphrase hassubsequence hassubsequencecaseinsensitive hassubsequencecaseinsensitiveutf8
  hassubsequenceutf8 hassubstr hastoken hastokencaseinsensitive hastokencaseinsensitiveornull hastokenornull hex
  highlight hilbertdecode hilbertencode hivehash hour hypot identity if ifnotfinite ifnull ilike indexof
  indexofassumesorted initcap initcaputf8 instr intdiv intdivornull intdivorzero intexp10 intexp2 inthash32 inthash64
  isascii isconstant isdecimaloverflow isdistinctfrom isdynamicelementinshareddata isfinite isinfinite isnan
  isnotdistinctfrom isnotnull isnull isnullable isprime isprobableprime isvalidascii isvalidjson isvalidutf8
  iszeroornull jarosimilarity jarowinklersimilarity javahash javahashutf16le json_array_length json_exists json_query
  json_value jsonallpaths jsonallpathswithtypes jsonallvalues jsonarraylength jsondynamicpaths
  jsondynamicpathswithtypes jsonextract jsonextractarrayraw jsonextractarrayrawcaseinsensitive jsonextractbool
  jsonextractboolcaseinsensitive jsonextractcaseinsensitive jsonextractfloat jsonextractfloatcaseinsensitive
  jsonextractint jsonextractintcaseinsensitive jsonextractkeys jsonextractkeysandvalues
  jsonextractkeysandvaluescaseinsensitive jsonextractkeysandvaluesraw jsonextractkeysandvaluesrawcaseinsensitive
  jsonextractkeyscaseinsensitive jsonextractraw jsonextractrawcaseinsensitive jsonextractstring
  jsonextractstringcaseinsensitive jsonextractuint jsonextractuintcaseinsensitive jsonhas jsonkey jsonlength
  jsonmergepatch jsonshareddatapaths jsonshareddatapathswithtypes jsontype jumpconsistenthash kafkamurmurhash
  keccak256 kostikconsistenthash l1distance l1norm l1normalize l2distance l2distancetransposed
  l2distancetransposedquantized l2norm l2normalize l2squareddistance l2squarednorm last_day lcase lcm least left
  leftpad leftpadutf8 leftutf8 length lengthutf8 less lessorequals levenshteindistance levenshteindistanceutf8 lgamma
  like linfdistance linfnorm linfnormalize ln localtimestamp locate log log10 log1p log2 lower lowerutf8 lpad
  lpdistance lpnorm lpnormalize ltrim makedate makedate32 makedatetime makedatetime64 map map_from_arrays mapadd
  mapall mapapply mapconcat mapcontains mapcontainskey mapcontainskeylike mapcontainsvalue mapcontainsvaluelike
  mapexists mapextractkeylike mapextractvaluelike mapfilter mapfromarrays mapfromstring mapkeys mappartialreversesort
  mappartialsort mappopulateseries mapreversesort mapsort mapsubtract mapupdate mapvalues match matchphrase
  materialize max2 md4 md5 metrohash64 microsecond mid midpoint millisecond min2 minus minute mismatches mod modornull
  modulo modulolegacy moduloornull moduloorzero month monthname mortondecode mortonencode multifuzzymatchallindices
  multifuzzymatchany multifuzzymatchanyindex multiif multimatchallindices multimatchany multimatchanyindex multiply
  multiplydecimal multisearchallpositions multisearchallpositionscaseinsensitive
  multisearchallpositionscaseinsensitiveutf8 multisearchallpositionsutf8 multisearchany multisearchanycaseinsensitive
  multisearchanycaseinsensitiveutf8 multisearchanyutf8 multisearchfirstindex multisearchfirstindexcaseinsensitive
  multisearchfirstindexcaseinsensitiveutf8 multisearchfirstindexutf8 multisearchfirstposition
  multisearchfirstpositioncaseinsensitive multisearchfirstpositioncaseinsensitiveutf8 multisearchfirstpositionutf8
  murmurhash2_32 murmurhash2_64 murmurhash3_128 murmurhash3_32 murmurhash3_64 naivebayesngrams nanosecond
  natural_sort_key naturalsortkey negate neighbor netloc ngramdistance ngramdistancecaseinsensitive
  ngramdistancecaseinsensitiveutf8 ngramdistanceutf8 ngramminhash ngramminhasharg ngramminhashargcaseinsensitive
  ngramminhashargcaseinsensitiveutf8 ngramminhashargutf8 ngramminhashcaseinsensitive ngramminhashcaseinsensitiveutf8
  ngramminhashutf8 ngrams ngramsearch ngramsearchcaseinsensitive ngramsearchcaseinsensitiveutf8 ngramsearchutf8
  ngramsimhash ngramsimhashcaseinsensitive ngramsimhashcaseinsensitiveutf8 ngramsimhashutf8 normalizel1 normalizel2
  normalizelinf normalizelp normalizeutf8nfc normalizeutf8nfd normalizeutf8nfkc normalizeutf8nfkccasefold
  normalizeutf8nfkd norml1 norml2 norml2squared normlinf normlp not notempty notequals notilike notlike now now64
  nowinblock nowinblock64 nullif octet_length or overlay overlayutf8 parsedatetime parsedatetime32besteffort
  parsedatetime32besteffortornull parsedatetime32besteffortorzero parsedatetime64 parsedatetime64besteffort
  parsedatetime64besteffortornull parsedatetime64besteffortorzero parsedatetime64besteffortus
  parsedatetime64besteffortusornull parsedatetime64besteffortusorzero parsedatetime64injodasyntax
  parsedatetime64injodasyntaxornull parsedatetime64injodasyntaxorzero parsedatetime64ornull parsedatetime64orzero
  parsedatetimebesteffort parsedatetimebesteffortornull parsedatetimebesteffortorzero parsedatetimebesteffortus
  parsedatetimebesteffortusornull parsedatetimebesteffortusorzero parsedatetimeinjodasyntax
  parsedatetimeinjodasyntaxornull parsedatetimeinjodasyntaxorzero parsedatetimeornull parsedatetimeorzero
  parsereadablesize parsereadablesizeornull parsereadablesizeorzero parsetimedelta path pathfull pi plus pmod
  pmodornull port portrfc position positioncaseinsensitive positioncaseinsensitiveutf8 positionutf8 positive_modulo
  positive_modulo_or_null positivemodulo positivemoduloornull pow power prettyprintjson printf proportionsztest
  protocol quarter querystring querystringandfragment radians range regexp_extract regexp_instr regexp_matches
  regexp_replace regexp_substr regexpextract regexpinstr regexpposition regexpquotemeta reinterpret reinterpretasdate
  reinterpretasdatetime reinterpretasfixedstring reinterpretasfloat32 reinterpretasfloat64 reinterpretasint128
  reinterpretasint16 reinterpretasint256 reinterpretasint32 reinterpretasint64 reinterpretasint8 reinterpretasstring
  reinterpretasuint128 reinterpretasuint16 reinterpretasuint256 reinterpretasuint32 reinterpretasuint64
  reinterpretasuint8 reinterpretasuuid removeaccentsutf8 removediacriticsutf8 repeat replace replaceall replaceone
  replaceregexpall replaceregexpone replicate reverse reversebyseparator reverseutf8 right rightpad rightpadutf8
  rightutf8 ripemd160 round roundage roundbankers rounddown roundduration roundtoexp2 rownumberinallblocks
  rownumberinblock rpad rtrim runningaccumulate runningdifference runningdifferencestartingwithfirstvalue
  scalarproduct scalarproducttransposed second seriesdecomposestl seriesoutliersdetecttukey sha1 sha224 sha256 sha384
  sha512 sha512_256 sigmoid sign simplejsonextractbool simplejsonextractfloat simplejsonextractint
  simplejsonextractraw simplejsonextractstring simplejsonextractuint simplejsonhas sin sinh siphash128 siphash128keyed
  siphash128reference siphash128referencekeyed siphash64 siphash64keyed snowflakeidtodatetime snowflakeidtodatetime64
  soundex space sparsegrams sparsegramshashes sparsegramshashesutf8 sparsegramsutf8 splitbyalpha splitbychar
  splitbynonalpha splitbyregexp splitbystring splitbywhitespace sqid sqiddecode sqidencode sqr sqrt startswith
  startswithcaseinsensitive startswithcaseinsensitiveutf8 startswithutf8 str_to_date str_to_map stringbytesentropy
  stringbytesuniq stringjaccardindex stringjaccardindexutf8 subbitmap subdate substr substring substring_index
  substringindex substringindexutf8 substringutf8 subtractdays subtracthours subtractinterval subtractmicroseconds
  subtractmilliseconds subtractminutes subtractmonths subtractnanoseconds subtractquarters subtractseconds
  subtracttupleofintervals subtractweeks subtractyears tan tanh tgamma time_bucket timediff timeslot timeslots
  timestamp timestamp_diff timestampdiff timezoneof timezoneoffset to_base64 to_days to_unixtime to_utc_timestamp
  tobfloat16 tobfloat16ornull tobfloat16orzero tobool tocolumntypename todate todate32 todate32ordefault
  todate32ornull todate32orzero todateordefault todateornull todateorzero todatetime todatetime32 todatetime64
  todatetime64ordefault todatetime64ornull todatetime64orzero todatetimeordefault todatetimeornull todatetimeorzero
  today todayofmonth todayofweek todayofyear todaysinmonth todayssinceyearzero todecimal128 todecimal128ordefault
  todecimal128ornull todecimal128orzero todecimal256 todecimal256ordefault todecimal256ornull todecimal256orzero
  todecimal32 todecimal32ordefault todecimal32ornull todecimal32orzero todecimal64 todecimal64ordefault
  todecimal64ornull todecimal64orzero todecimalstring tofixedstring tofloat32 tofloat32ordefault tofloat32ornull
  tofloat32orzero tofloat64 tofloat64ordefault tofloat64ornull tofloat64orzero tohour toint128 toint128ordefault
  toint128ornull toint128orzero toint16 toint16ordefault toint16ornull toint16orzero toint256 toint256ordefault
  toint256ornull toint256orzero toint32 toint32ordefault toint32ornull toint32orzero toint64 toint64ordefault
  toint64ornull toint64orzero toint8 toint8ordefault toint8ornull toint8orzero tointerval tointervalday tointervalhour
  tointervalmicrosecond tointervalmillisecond tointervalminute tointervalmonth tointervalnanosecond tointervalquarter
  tointervalsecond tointervalweek tointervalyear toisoweek toisoyear tojsonstring tokens tokensforlikepattern
  tolastdayofmonth tolastdayofweek tolowcardinality tomicrosecond tomillisecond tominute tomodifiedjulianday
  tomodifiedjuliandayornull tomonday tomonth tomonthnumsinceepoch tonanosecond tonullable topleveldomain
  topleveldomainrfc toquarter torelativedaynum torelativehournum torelativeminutenum torelativemonthnum
  torelativequarternum torelativesecondnum torelativeweeknum torelativeyearnum tosecond tostartofday
  tostartoffifteenminutes tostartoffiveminute tostartoffiveminutes tostartofhour tostartofinterval tostartofisoyear
  tostartofmicrosecond tostartofmillisecond tostartofminute tostartofmonth tostartofnanosecond tostartofquarter
  tostartofsecond tostartoftenminutes tostartofweek tostartofyear tostring tostringcuttozero totime totime64
  totime64ornull totime64orzero totimeornull totimeorzero totimewithfixeddate totimezone totypename touint128
  touint128ordefault touint128ornull touint128orzero touint16 touint16ordefault touint16ornull touint16orzero
  touint256 touint256ordefault touint256ornull touint256orzero touint32 touint32ordefault touint32ornull
  touint32orzero touint64 touint64ordefault touint64ornull touint64orzero touint8 touint8ordefault touint8ornull
  touint8orzero tounixtimestamp tounixtimestamp64micro tounixtimestamp64milli tounixtimestamp64nano
  tounixtimestamp64second toutctimestamp touuid touuidordefault touuidornull touuidorzero tovalidutf8 toweek toyear
  toyearnumsinceepoch toyearweek toyyyymm toyyyymmdd toyyyymmddhhmmss transform translate translateutf8 trim trimboth
  trimleft trimright trunc truncate trybase32decode trybase58decode trybase64decode trybase64urldecode tuple
  tupleconcat tupledivide tupledividebynumber tupleelement tuplehammingdistance tupleintdiv tupleintdivbynumber
  tupleintdivorzero tupleintdivorzerobynumber tupleminus tuplemodulo tuplemodulobynumber tuplemultiply
  tuplemultiplybynumber tuplenames tuplenegate tupleplus tuplepositivemodulobynumber tupletonamevaluepairs ucase unbin
  unhex unnest upper upperutf8 urlhash urlhierarchy urlpathhierarchy utc_timestamp utctimestamp uuidnumtostring
  uuidstringtonum uuidtonum uuidv7todatetime vectordifference vectorsum visitparamextractbool visitparamextractfloat
  visitparamextractint visitparamextractraw visitparamextractstring visitparamextractuint visitparamhas week
  width_bucket widthbucket wordshingleminhash wordshingleminhasharg wordshingleminhashargcaseinsensitive
  wordshingleminhashargcaseinsensitiveutf8 wordshingleminhashargutf8 wordshingleminhashcaseinsensitive
  wordshingleminhashcaseinsensitiveutf8 wordshingleminhashutf8 wordshinglesimhash wordshinglesimhashcaseinsensitive
  wordshinglesimhashcaseinsensitiveutf8 wordshinglesimhashutf8 wyhash64 xor xxh3 xxh3_128 xxhash32 xxhash64
  xxhash64spark yandexconsistenthash year yearweek yesterday yyyymmddhhmmsstodatetime yyyymmddhhmmsstodatetime64
  yyyymmddtodate yyyymmddtodate32
`;

const aggregates = `
  analysisofvariance anova any any_respect_nulls any_value any_value_respect_nulls anyheavy anylast
  anylast_respect_nulls anylastrespectnulls anyrespectnulls anyvaluerespectnulls approx_top_count approx_top_k
  approx_top_sum argandmax argandmin argmax argmin array_agg avg avgweighted bit_and bit_or bit_xor boundingratio
  categoricalinformationvalue contingency corr corrmatrix corrstable count covar_pop covar_samp covarpop
  covarpopmatrix covarpopstable covarsamp covarsampmatrix covarsampstable cramersv cramersvbiascorrected cume_dist
  deltasum deltasumtimestamp dense_rank denserank distinctdynamictypes distinctjsonpaths distinctjsonpathsandtypes
  entropy exponentialmovingaverage exponentialtimedecayedavg exponentialtimedecayedcount exponentialtimedecayedmax
  exponentialtimedecayedsum first_value first_value_respect_nulls firstvaluerespectnulls group_concat grouparray
  grouparrayinsertat grouparrayintersect grouparraylast grouparraymovingavg grouparraymovingsum grouparraysample
  grouparraysorted groupbitand groupbitmap groupbitmapand groupbitmapor groupbitmapxor groupbitor groupbitxor
  groupconcat groupformat groupnumericindexedvector groupuniqarray histogram intervallengthsum kolmogorovsmirnovtest
  kurtpop kurtsamp lag laginframe largesttrianglethreebuckets last_value last_value_respect_nulls
  lastvaluerespectnulls lead leadinframe lttb mannwhitneyutest max max_by maxintersections maxintersectionsposition
  maxmappedarrays meanztest median medianbfloat16 medianbfloat16weighted mediandd mediandeterministic medianexact
  medianexacthigh medianexactlow medianexactweighted medianexactweightedinterpolated mediangk
  medianinterpolatedweighted mediantdigest mediantdigestweighted mediantiming mediantimingweighted min min_by
  minmappedarrays mvtencode nonnegativederivative nth_value ntile percent_rank percentrank quantile quantilebfloat16
  quantilebfloat16weighted quantiledd quantiledeterministic quantileexact quantileexactexclusive quantileexacthigh
  quantileexactinclusive quantileexactlow quantileexactweighted quantileexactweightedinterpolated quantilegk
  quantileinterpolatedweighted quantileprometheushistogram quantiles quantilesbfloat16 quantilesbfloat16weighted
  quantilesdd quantilesdeterministic quantilesexact quantilesexactexclusive quantilesexacthigh quantilesexactinclusive
  quantilesexactlow quantilesexactweighted quantilesexactweightedinterpolated quantilesgk
  quantilesinterpolatedweighted quantilesprometheushistogram quantilestdigest quantilestdigestweighted quantilestiming
  quantilestimingweighted quantiletdigest quantiletdigestweighted quantiletiming quantiletimingweighted rank rankcorr
  retention row_number sequencecount sequencematch sequencematchevents sequencenextnode simplelinearregression
  singlevalueornull skewpop skewsamp sparkbar st_asmvt std stddev stddev_pop stddev_samp stddevpop stddevpopstable
  stddevsamp stddevsampstable stochasticlinearregression stochasticlogisticregression string_agg studentttest
  studentttestonesample sum sumcount sumkahan summapfiltered summapfilteredwithoverflow summappedarrays
  summapwithoverflow sumwithoverflow theilsu topk topkweighted uniq uniqcombined uniqcombined64 uniqexact uniqhll12
  uniqupto var_pop var_samp varpop varpopstable varsamp varsampstable welchttest windowfunnel
`;

/** Types look like calls in `CAST(x AS Decimal(9, 2))`. */
const types = `
  array bool bfloat16 date date32 datetime datetime32 datetime64 decimal decimal32 decimal64 decimal128 decimal256
  enum8 enum16 fixedstring float32 float64 int8 int16 int32 int64 int128 int256 ipv4 ipv6 json lowcardinality map
  nested nullable string time time64 tuple uint8 uint16 uint32 uint64 uint128 uint256 uuid variant varchar char
  numeric dec
`;

const toSet = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

const scalarNames = toSet(scalars);
const aggregateNames = toSet(aggregates);
const typeNames = toSet(types);

/** Table functions, beside the views of one run, that make rows out of nothing. */
export const tableFunctions: ReadonlySet<string> = toSet("numbers zeros generate_series generateseries");

/** What may follow an aggregate's name: `sumIf`, `quantileOrNull`, `maxForEachIf`. */
const combinators: readonly string[] = [
  "ordefault",
  "distinct",
  "resample",
  "foreach",
  "argmin",
  "argmax",
  "ornull",
  "array",
  "map",
  "if",
];

export function isAllowedFunction(name: string): boolean {
  const lower = name.toLowerCase();
  return scalarNames.has(lower) || typeNames.has(lower) || isAggregate(lower);
}

function isAggregate(lower: string): boolean {
  if (aggregateNames.has(lower)) return true;
  const suffix = combinators.find((one) => lower.length > one.length && lower.endsWith(one));
  return suffix !== undefined && isAggregate(lower.slice(0, -suffix.length));
}

/** For whoever writes SQL: completion and help. */
export function allowedFunctions(): string[] {
  return [...scalarNames, ...aggregateNames].toSorted();
}
