// Every tensor with its norm over time, the most changed first.

import { useMemo, useState } from "react";
import type { TensorInfo } from "#api/contract/snapshot.ts";
import { Spark } from "../../chart/spark.tsx";
import { Button } from "../../part/button.tsx";
import { TextField } from "../../part/field.tsx";
import { Icon } from "../../part/icon.tsx";
import { Name } from "../../part/name.tsx";
import { formatNumber } from "../../text/format-number.ts";

const hints: Record<string, string> = {
  nan: "holds NaN",
  dead: "does not change any more",
  exploding: "norm grows fast",
  vanishing: "norm shrinks towards zero",
  constant: "all values are equal",
};

interface TensorListProps {
  readonly tensors: readonly TensorInfo[];
  readonly chosen: string;
  readonly onChoose: (tensor: string) => void;
}

export function TensorList({ tensors, chosen, onChoose }: TensorListProps) {
  const [search, setSearch] = useState("");
  const [sort, setSort] = useState<"change" | "name">("change");
  const rows = useMemo(
    () =>
      tensors
        .filter((each) => each.tensor.toLowerCase().includes(search.toLowerCase()))
        .sort((a, b) => (sort === "name" ? a.tensor.localeCompare(b.tensor) : (b.change ?? -1) - (a.change ?? -1))),
    [tensors, search, sort],
  );
  return (
    <nav className="column tensor-list" aria-label="Tensors">
      <div className="row tensor-find">
        <TextField data-search look="grow" label="Find a tensor" value={search} onChange={setSearch} />
        <Button look="small" onClick={() => setSort(sort === "name" ? "change" : "name")}>
          by {sort}
        </Button>
      </div>
      <ul className="scroll">
        {rows.map((each) => (
          <li key={each.tensor}>
            <button
              type="button"
              className="row small tensor-item"
              aria-current={each.tensor === chosen ? "true" : undefined}
              onClick={() => onChoose(each.tensor)}
            >
              <span className="grow clip">
                <span className="row">
                  <Name>{each.tensor}</Name>
                </span>
                <span className="muted">
                  {each.shape.join("×") || "scalar"} {each.kind === "gradient" ? "· gradient" : ""}
                  {each.hints.map((hint) => (
                    <span key={hint} className="status-warn badge" title={hints[hint]}>
                      <Icon name="warning" size={12} /> {hint}
                    </span>
                  ))}
                </span>
              </span>
              <Spark last={each.norms} width={64} height={22} label={`norm of ${each.tensor}`} />
              <span className="num muted" style={{ width: 52 }} title="relative change of the norm">
                {each.change === null ? "–" : `${formatNumber(each.change * 100, 2)} %`}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}
