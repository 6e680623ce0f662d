import { ConfirmedDeed } from '../../../components/confirmed-deed.tsx'
import { ScrollArea } from '../../../components/scroll-area.tsx'
import { Time } from '../../../components/time.tsx'
import { count } from '../../../formats/numbers.ts'
import { countedMax, type Removal } from './removal.ts'
import type { Kept } from './wanted-retention.ts'

export interface ConfirmRetentionProps {
  readonly name: string
  readonly wanted: Kept
  readonly removal: Removal | undefined
  readonly losesWindows: boolean
  readonly run: () => Promise<void>
  readonly onClose: () => void
}

/** Says what a shorter time removes, and wants the name of the vault typed. */
export function ConfirmRetention(props: ConfirmRetentionProps) {
  const { name, wanted, removal, losesWindows, run, onClose } = props
  return (
    <ConfirmedDeed
      title="Data will be removed"
      typed={name}
      deed="Save and remove"
      run={run}
      onClose={onClose}
    >
      {removal === undefined ? (
        !losesWindows && (
          <p>
            Readings older than {wanted.raw} go within minutes. How many these are cannot be counted
            with a key that lacks <code>data:read</code> or <code>streams:read</code>.
          </p>
        )
      ) : (
        <Counted removal={removal} />
      )}
      {losesWindows && (
        <p>
          Results of windows that are older than {wanted.aggregated} go as well, within the hour.
          They are not counted here.
        </p>
      )}
      <p>It cannot be brought back.</p>
    </ConfirmedDeed>
  )
}

function Counted({ removal: { before, streams, own, isPartial } }: { readonly removal: Removal }) {
  const sum = streams.reduce((total, { readings }) => total + readings, 0)
  return (
    <>
      <p>
        <strong>
          {count(sum)} {sum === 1 ? 'reading' : 'readings'}
        </strong>{' '}
        from before <Time at={before} /> go within minutes, and from then on what gets older.
      </p>
      {streams.length > 0 && (
        <ScrollArea label="Readings that go" class="vault-removal">
          <table class="data">
            <caption class="visually-hidden">Readings that go, stream by stream</caption>
            <thead>
              <tr>
                <th scope="col">Stream</th>
                <th scope="col" class="number">
                  Readings
                </th>
              </tr>
            </thead>
            <tbody>
              {streams.map(({ streamId, name, readings }) => (
                <tr key={streamId}>
                  <td>
                    <bdi>{name}</bdi>
                  </td>
                  <td class="number">{count(readings)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollArea>
      )}
      {own > 0 && (
        <p class="soft">
          {own === 1 ? '1 stream says' : `${count(own)} streams say`} themselves how long readings
          are kept: nothing changes there.
        </p>
      )}
      {isPartial && (
        <p class="notice warn">
          The vault has more streams: these are the first {countedMax}. There may be more to go.
        </p>
      )}
    </>
  )
}
