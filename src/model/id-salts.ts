// Tells the ids of spans, marks and snapshots apart in `cirron_ids`: the same text may name a span and a mark.

export const idSalts = { span: 0, mark: 0x6d61726b, snapshot: 0x736e6170 } as const;
