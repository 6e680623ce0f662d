import { Upload as UploadIcon } from 'lucide'
import { useEffect, useRef, useState } from 'preact/hooks'
import { CheckField } from '../../../components/check-field.tsx'
import { Icon } from '../../../components/icon.tsx'
import { QueuedFiles } from './queued-files.tsx'
import { type QueuedFile, queuedMax, UploadQueue, type UploadTarget } from './upload-queue.ts'

export interface UploadsProps {
  readonly target: UploadTarget
  readonly onAttachments: () => void
}

/** Files to attach: chosen, or dropped here, and how far they have got. */
export function Uploads({ target, onAttachments }: UploadsProps) {
  const [files, setFiles] = useState<readonly QueuedFile[]>([])
  const [unpacks, setUnpacks] = useState(false)
  const told = useRef(onAttachments)
  told.current = onAttachments
  const [queue] = useState(
    () => new UploadQueue({ onChange: setFiles, onAttachments: () => told.current() }),
  )
  useEffect(() => () => queue.close(), [])
  const add = (list: FileList | null | undefined) => queue.add([...(list ?? [])], target, unpacks)
  return (
    <section class="stack" aria-label="Attach files">
      <DropPlace onFiles={add} />
      <CheckField isChecked={unpacks} onChecked={setUnpacks}>
        Unpack archives (.zip): what is in one becomes the files of its attachment
      </CheckField>
      <QueuedFiles files={files} queue={queue} />
    </section>
  )
}

function DropPlace({
  onFiles,
}: {
  readonly onFiles: (files: FileList | null | undefined) => void
}) {
  const [isOver, setOver] = useState(false)
  const over = (event: DragEvent) => {
    if (!event.dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    setOver(true)
  }
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the input within does the same by keys
    <div
      class={isOver ? 'vault-drop over' : 'vault-drop'}
      role="group"
      aria-label="Place for files"
      onDragEnter={over}
      onDragOver={over}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        onFiles(event.dataTransfer?.files)
      }}
    >
      <Icon of={UploadIcon} />
      <label class="vault-drop-label">
        Drop files here, or choose them
        <input
          type="file"
          multiple
          onChange={({ currentTarget }) => {
            onFiles(currentTarget.files)
            // The same file can be chosen once more.
            currentTarget.value = ''
          }}
        />
      </label>
      <span class="soft">
        {queuedMax} at once. The service says how large a file may be (2 GiB, unless it was set
        otherwise) before anything of it is sent.
      </span>
    </div>
  )
}
