import { useState } from 'preact/hooks'
import { api } from '../../../api/client.ts'
import { useResource } from '../../../api/resource.ts'
import { serviceNowMs } from '../../../api/service-clock.ts'
import { may } from '../../../api/session.ts'
import { Action } from '../../../components/action.tsx'
import { Loaded } from '../../../components/states.tsx'
import { TextField } from '../../../components/text-field.tsx'
import type { ShownVault, TabProps } from '../shown-vault.ts'
import { ConfirmRetention } from './confirm-retention.tsx'
import { countRemoval, type Removal } from './removal.ts'
import { cutoffMs, isShorter, type Kept, keptOf, problemOf } from './wanted-retention.ts'

/** How long the data of the streams of the vault is kept. */
export function RetentionTab({ vault }: TabProps) {
  const kept = useResource(
    (signal) => api.call('readVaultRetention', { path: { vaultId: vault.id }, signal }),
    [vault.id],
  )
  return (
    <section class="card stack" aria-labelledby="vault-retention">
      <h2 id="vault-retention">How long data is kept</h2>
      <p>
        This holds for the streams of the vault that say nothing themselves. A stream can say it in
        its definition, under <code>processing.retention</code>.
      </p>
      <Loaded of={kept} lines={4}>
        {(now) =>
          may('vaults:write') ? (
            <Form vault={vault} now={now} reload={() => kept.reload()} />
          ) : (
            <Facts now={now} />
          )
        }
      </Loaded>
    </section>
  )
}

function Facts({ now: { raw, aggregated } }: { readonly now: Kept }) {
  return (
    <dl class="facts">
      <dt>Readings</dt>
      <dd>{raw ?? 'for ever'}</dd>
      <dt>Results of windows</dt>
      <dd>{aggregated ?? 'for ever'}</dd>
    </dl>
  )
}

interface FormProps {
  readonly vault: ShownVault
  readonly now: Kept
  readonly reload: () => void
}

/** What is asked before it is saved. */
interface Question {
  readonly wanted: Kept
  /** Undefined: readings stay, or the key may not count them. */
  readonly removal: Removal | undefined
  readonly losesWindows: boolean
}

function Form({ vault, now, reload }: FormProps) {
  const [raw, setRaw] = useState(now.raw ?? '')
  const [aggregated, setAggregated] = useState(now.aggregated ?? '')
  const [question, setQuestion] = useState<Question>()
  const [isSaved, setSaved] = useState(false)
  const problems = { raw: problemOf(raw), aggregated: problemOf(aggregated) }
  const wanted = { raw: keptOf(raw), aggregated: keptOf(aggregated) }
  const isChanged = wanted.raw !== now.raw || wanted.aggregated !== now.aggregated
  const isSound = problems.raw === undefined && problems.aggregated === undefined
  const save = async () => {
    await api.call('changeVaultRetention', { path: { vaultId: vault.id }, body: wanted })
    setQuestion(undefined)
    setSaved(true)
    reload()
  }
  const ask = async () => {
    setSaved(false)
    const asked = await questionOf(vault.id, now, wanted)
    if (asked === undefined) await save()
    else setQuestion(asked)
  }
  return (
    <>
      <Duration label="Readings" value={raw} problem={problems.raw} onValue={setRaw} />
      <Duration
        label="Results of windows"
        value={aggregated}
        problem={problems.aggregated}
        onValue={setAggregated}
      />
      <p class="soft">
        Before something shorter is saved, it is counted what goes at once. What has been removed
        cannot be brought back; to keep more again later keeps what is still there.
      </p>
      <div class="row">
        <Action look="primary" isDisabled={!isChanged || !isSound} run={ask}>
          Save
        </Action>
        <span role="status">{isSaved && !isChanged && 'Saved'}</span>
      </div>
      {question && (
        <ConfirmRetention
          {...question}
          name={vault.name}
          run={save}
          onClose={() => setQuestion(undefined)}
        />
      )}
    </>
  )
}

/** What has to be confirmed; undefined: nothing is lost by it. @throws ApiFailure */
async function questionOf(vaultId: string, now: Kept, wanted: Kept): Promise<Question | undefined> {
  const losesWindows = isShorter(now.aggregated, wanted.aggregated)
  const cutoff = isShorter(now.raw, wanted.raw) ? cutoffMs(wanted.raw, serviceNowMs()) : undefined
  if (cutoff === undefined) {
    return losesWindows ? { wanted, removal: undefined, losesWindows } : undefined
  }
  if (!may('streams:read', 'data:read')) return { wanted, removal: undefined, losesWindows }
  const removal = await countRemoval(vaultId, cutoff)
  const losesReadings = removal.streams.length > 0 || removal.isPartial
  return losesReadings || losesWindows ? { wanted, removal, losesWindows } : undefined
}

interface DurationProps {
  readonly label: string
  readonly value: string
  readonly problem: string | undefined
  readonly onValue: (value: string) => void
}

function Duration({ label, value, problem, onValue }: DurationProps) {
  return (
    <TextField
      label={label}
      hint="Such as 12h, 30d or 400d; empty is for ever"
      problem={problem}
      placeholder="for ever"
      isCode
      value={value}
      onValue={onValue}
    />
  )
}
