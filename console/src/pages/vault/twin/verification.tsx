import { useState } from 'preact/hooks'
import type { Operations } from '../../../../../clients/typescript/call.ts'
import { api } from '../../../api/client.ts'
import { useResource } from '../../../api/resource.ts'
import { may } from '../../../api/session.ts'
import { Action } from '../../../components/action.tsx'
import { Loaded } from '../../../components/states.tsx'
import { Time } from '../../../components/time.tsx'
import type { TabProps } from '../shown-vault.ts'

type Entry = Operations['listInbox']['answer']['content'][number]

/** How often the inbox is looked into for the end. */
const lookMs = 2000

const tones: Readonly<Record<string, string>> = { SUCCESS: 'good', WARNING: 'warn', ERROR: 'bad' }

/** Has what is kept of the vault compared with the ledger, and tells how that ended. */
export function Verification({ vault: { id } }: TabProps) {
  const [askedAt, setAskedAt] = useState<string>()
  const ask = async () => {
    const { requested_at: at } = await api.call('verifyVault', { path: { vaultId: id } })
    setAskedAt(at)
  }
  return (
    <section class="card stack" aria-labelledby="vault-verification">
      <h2 id="vault-verification">Compare with the ledger</h2>
      <p class="soft">
        Hashes again all that is kept of the vault, checks its proof, and asks the ledger whether it
        says the same.
      </p>
      {may('vaults:write') && (
        <div class="row">
          <Action run={ask}>Compare now</Action>
        </div>
      )}
      {may('notifications:read') ? (
        <Outcome key={askedAt} vaultId={id} askedAt={askedAt} />
      ) : (
        askedAt !== undefined && (
          <p role="status">
            It is under way. The inbox shows how it ends, which needs the permission{' '}
            <code>notifications:read</code>.
          </p>
        )
      )}
    </section>
  )
}

interface OutcomeProps {
  readonly vaultId: string
  /** Since when a comparison is under way that was begun here. */
  readonly askedAt: string | undefined
}

function Outcome({ vaultId, askedAt }: OutcomeProps) {
  const [isOver, setOver] = useState(false)
  const isWaited = askedAt !== undefined && !isOver
  const found = useResource(
    async (signal) => {
      const entry = await lastOutcome(vaultId, signal)
      if (isEndOf(entry, askedAt)) setOver(true)
      return { entry }
    },
    [vaultId, askedAt, isOver],
    isWaited ? { everyMs: lookMs } : {},
  )
  return (
    <Loaded of={found} lines={1}>
      {({ entry }) => (
        <div aria-live="polite">
          {isWaited && !isEndOf(entry, askedAt) ? (
            <p>It is under way…</p>
          ) : entry === undefined ? (
            <p class="soft">The inbox has no comparison of this vault.</p>
          ) : (
            <p class={`notice ${tones[entry.type] ?? ''}`}>
              <strong>
                <bdi>{entry.title}</bdi>
              </strong>
              <span class="soft">
                <Time at={entry.created_at} as="ago" />
              </span>
            </p>
          )}
        </div>
      )}
    </Loaded>
  )
}

/** The newest comparison of a vault that the inbox still has near its top. */
async function lastOutcome(vaultId: string, signal: AbortSignal): Promise<Entry | undefined> {
  const { content } = await api.call('listInbox', { query: { page_size: 100 }, signal })
  return content.find(
    (entry) => entry.event_type === 'vault.verification_complete' && entry.resource_id === vaultId,
  )
}

function isEndOf(entry: Entry | undefined, askedAt: string | undefined): boolean {
  if (entry === undefined || askedAt === undefined) return false
  return new Date(entry.created_at).getTime() >= new Date(askedAt).getTime()
}
