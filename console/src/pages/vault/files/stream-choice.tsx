import { AnchorState } from '../../../components/anchor-state.tsx'
import { paths } from '../../../routing/paths.ts'
import { useQuery } from '../../../routing/query.ts'
import type { ShownVault } from '../shown-vault.ts'

type AssetStream = ShownVault['streams'][number]

export interface StreamChoiceProps {
  readonly streams: readonly AssetStream[]
  readonly chosen: AssetStream
}

/** Which asset stream of the vault it is about. */
export function StreamChoice({ streams, chosen }: StreamChoiceProps) {
  const query = useQuery()
  return (
    <div class="row">
      <label class="row">
        Asset stream
        <select
          class="control"
          value={chosen.asset_code}
          onChange={({ currentTarget }) =>
            query.set({ asset: currentTarget.value, page: undefined })
          }
        >
          {streams.map(({ asset_code: code }) => (
            <option key={code} value={code}>
              {code}
            </option>
          ))}
        </select>
      </label>
      <AnchorState status={chosen.status} />
      <a href={paths.record('asset-stream', chosen.id)}>Its record</a>
    </div>
  )
}
