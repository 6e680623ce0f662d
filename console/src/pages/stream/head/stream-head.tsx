import { Pause, Play, Trash2 } from 'lucide'
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import type { Operations } from '../../../../../clients/typescript/call.ts'
import { api } from '../../../api/client.ts'
import { type Resource, useResource } from '../../../api/resource.ts'
import { may } from '../../../api/session.ts'
import { Action } from '../../../components/action.tsx'
import { ConfirmedDeed } from '../../../components/confirmed-deed.tsx'
import { FiringAlerts } from '../../../components/firing-alerts.tsx'
import { Icon } from '../../../components/icon.tsx'
import { Skeleton } from '../../../components/states.tsx'
import { StreamState } from '../../../components/stream-state.tsx'
import { Tags } from '../../../components/tags.tsx'
import { count } from '../../../formats/numbers.ts'
import { paths } from '../../../routing/paths.ts'
import type { StreamDefinition } from '../stream-definition.ts'

export type StreamStatus = Operations['readStreamStatus']['answer']

export interface StreamHeadProps {
  readonly stream: StreamDefinition
  readonly of: Resource<StreamStatus>
  readonly reload: () => void
}

/** What stands beside the name of a stream: how it does, where it belongs, and what can be done with it. */
export function StreamHead({ stream, of: { data: status, failure }, reload }: StreamHeadProps) {
  // A failure stands below the head.
  const isUnknown = status === undefined && failure === undefined
  return (
    <>
      <StreamState state={status?.status ?? stream.status} />
      {isUnknown && <Skeleton lines={1} />}
      {status && <FiringAlerts streamId={stream.streamId} of={status.firing} />}
      <VaultLink vaultId={stream.vaultId} />
      <Tags tags={stream.tags} />
      <span class="spring" />
      {may('streams:write') && <Deeds stream={stream} status={status} reload={reload} />}
    </>
  )
}

function VaultLink({ vaultId }: { readonly vaultId: string }) {
  const vault = useResource(
    async (signal) =>
      may('vaults:read') ? await api.call('readVault', { path: { vaultId }, signal }) : undefined,
    [vaultId],
  )
  if (!may('vaults:read')) return null
  return (
    <span class="soft">
      in{' '}
      <a href={paths.vault(vaultId)}>
        <bdi>{vault.data?.name ?? 'its vault'}</bdi>
      </a>
    </span>
  )
}

interface DeedsProps {
  readonly stream: StreamDefinition
  readonly status: StreamStatus | undefined
  readonly reload: () => void
}

function Deeds({ stream: { streamId, name, status: first }, status, reload }: DeedsProps) {
  const { route } = useLocation()
  const [isDeleting, setDeleting] = useState(false)
  const path = { streamId }
  const isPaused = (status?.status ?? first) === 'paused'
  const pause = async () => {
    await api.call(isPaused ? 'resumeStream' : 'pauseStream', { path })
    reload()
  }
  const remove = async () => {
    await api.call('deleteStream', { path })
    route(paths.streams)
  }
  return (
    <>
      <span class="row">
        <Action run={pause}>
          <Icon of={isPaused ? Play : Pause} />
          {isPaused ? 'Resume' : 'Pause'}
        </Action>
        <button type="button" class="button danger" onClick={() => setDeleting(true)}>
          <Icon of={Trash2} />
          Delete
        </button>
      </span>
      {isDeleting && (
        <ConfirmedDeed
          title="Delete this stream"
          typed={name}
          deed="Delete permanently"
          run={remove}
          onClose={() => setDeleting(false)}
        >
          <p>
            This removes the stream <bdi>{name}</bdi>, its definition with all versions
            {status && (
              <>
                , {count(kept(status))} readings and {count(status.counters.quarantined)} in
                quarantine
              </>
            )}
            . Devices that send to it are refused from then on. It cannot be brought back.
          </p>
        </ConfirmedDeed>
      )}
    </>
  )
}

function kept({ counters, deleted, expired }: StreamStatus): number {
  return Math.max(0, counters.stored - deleted - expired)
}
