import { FailureText } from '../../../components/states.tsx'
import { bytes } from '../../../formats/numbers.ts'
import type { QueuedFile, UploadQueue } from './upload-queue.ts'

export interface QueuedFilesProps {
  readonly files: readonly QueuedFile[]
  readonly queue: UploadQueue
}

const words = { waiting: 'waits', sending: 'is being sent', done: 'has arrived', failed: 'failed' }

/** Files that are on their way, each with how far it has got. */
export function QueuedFiles({ files, queue }: QueuedFilesProps) {
  const over = files.filter(({ state }) => state === 'done').length
  return (
    <>
      <p class="visually-hidden" role="status">
        {files.length > 0 && `${over} of ${files.length} files have arrived`}
      </p>
      {files.length > 0 && (
        <ul class="vault-uploads">
          {files.map((queued) => (
            <li key={queued.id}>
              <Queued queued={queued} queue={queue} />
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

function Queued({
  queued: { id, file, state, sentBytes, failure },
  queue,
}: { readonly queued: QueuedFile } & Pick<QueuedFilesProps, 'queue'>) {
  return (
    <>
      <div class="row">
        <bdi class="vault-file-name">{file.name}</bdi>
        <span class="soft">
          {state === 'sending' ? `${bytes(sentBytes)} of ${bytes(file.size)}` : bytes(file.size)},{' '}
          {words[state]}
        </span>
        {state === 'failed' && (
          <button type="button" class="button" onClick={() => queue.retry(id)}>
            Try again
          </button>
        )}
        <button type="button" class="button" onClick={() => queue.remove(id)}>
          {state === 'waiting' || state === 'sending' ? 'Cancel' : 'Dismiss'}
          <span class="visually-hidden"> {file.name}</span>
        </button>
      </div>
      {state === 'sending' && (
        <progress
          class="vault-progress"
          max={Math.max(1, file.size)}
          value={sentBytes}
          aria-label={`How much of ${file.name} is sent`}
        />
      )}
      {failure && (
        <div class="notice bad" role="alert">
          <FailureText failure={failure} />
        </div>
      )}
    </>
  )
}
