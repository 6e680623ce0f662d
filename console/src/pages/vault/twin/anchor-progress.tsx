import { CircleCheck, CircleDashed, CircleDot, OctagonAlert } from 'lucide'
import { api } from '../../../api/client.ts'
import { may } from '../../../api/session.ts'
import { Action } from '../../../components/action.tsx'
import { anchorMeaning } from '../../../components/anchor-state.tsx'
import { Icon } from '../../../components/icon.tsx'
import { Time } from '../../../components/time.tsx'
import type { TabProps } from '../shown-vault.ts'
import { type AnchorStep, anchorSteps } from './anchor-steps.ts'

const signs = {
  done: CircleCheck,
  next: CircleDot,
  'to-come': CircleDashed,
  failed: OctagonAlert,
} as const

const words = { done: 'done', next: 'under way', 'to-come': 'to come', failed: 'failed' } as const

/** The way onto the ledger, step by step, and what to do when it does not go on. */
export function AnchorProgress({ vault, reload }: TabProps) {
  const { id, status, failure } = vault
  const retry = async () => {
    await api.call('retryVault', { path: { vaultId: id } })
    reload()
  }
  return (
    <section class="card stack" aria-labelledby="vault-way">
      <h2 id="vault-way">The way to the ledger</h2>
      <ol class="vault-steps">
        {anchorSteps(vault).map((step) => (
          <Step key={step.status} step={step} />
        ))}
      </ol>
      <p class="soft" role="status">
        {anchorMeaning(status)}
      </p>
      {failure !== null && (
        <div class="notice bad">
          <p>
            <strong>
              <bdi>{failure.message}</bdi>
            </strong>{' '}
            <code>{failure.error}</code>
          </p>
          {status === 'ERROR' && may('vaults:write') && (
            <div class="row">
              <Action run={retry} done="It is tried again">
                Try again
              </Action>
              <span class="soft">
                What is signed is never signed again: nothing gets there twice.
              </span>
            </div>
          )}
        </div>
      )}
    </section>
  )
}

function Step({ step: { says, doneAt, is } }: { readonly step: AnchorStep }) {
  return (
    <li class={`vault-step ${is}`}>
      <Icon of={signs[is]} label={words[is]} />
      <span>
        {says}
        <span class="soft vault-step-time">
          {doneAt === undefined ? words[is] : <Time at={doneAt} />}
        </span>
      </span>
    </li>
  )
}
