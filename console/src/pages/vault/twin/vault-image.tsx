import { useState } from 'preact/hooks'
import { may } from '../../../api/session.ts'
import { upload, uploadPlace } from '../../../api/upload.ts'
import { Action } from '../../../components/action.tsx'
import { Field } from '../../../components/field.tsx'
import { bytes } from '../../../formats/numbers.ts'
import type { TabProps } from '../shown-vault.ts'

const types = 'image/png,image/jpeg,image/webp,image/gif,image/avif'

/** The image of the vault, or that of its template, and the way to another one. */
export function VaultImage({ vault, reload }: TabProps) {
  const { id, name, image_cid: own, default_image_cid: usual } = vault
  const cid = own === '' ? usual : own
  const canChange = may('vaults:write') && vault.image_upload_url !== ''
  if (cid === '' && !canChange) return null
  return (
    <section class="card stack" aria-labelledby="vault-image">
      <h2 id="vault-image">Image</h2>
      {cid === '' ? (
        <p class="soft">It has no image.</p>
      ) : (
        // With its CID in the address, another image is another address.
        <img
          class="vault-image"
          src={`/vaults/${encodeURIComponent(id)}/image#${cid}`}
          key={cid}
          alt={`Of ${name}`}
        />
      )}
      {own === '' && cid !== '' && <p class="soft">It is that of its template.</p>}
      {canChange && (
        <Replace address={vault.image_upload_url} hasOne={cid !== ''} reload={reload} />
      )}
    </section>
  )
}

interface ReplaceProps {
  readonly address: string
  readonly hasOne: boolean
  readonly reload: () => void
}

function Replace({ address, hasOne, reload }: ReplaceProps) {
  const [file, setFile] = useState<File>()
  const place = uploadPlace(address)
  if (!place) {
    return <p class="soft">Images go to an object store here: send one with another program.</p>
  }
  const max = place.bytesMax ?? Number.POSITIVE_INFINITY
  const problem =
    file && file.size > max ? `This file has ${bytes(file.size)}: it is too large` : undefined
  const send = async () => {
    if (!file) return
    const { signal } = new AbortController()
    await upload({ path: place.path, file, signal, onProgress: () => undefined })
    reload()
  }
  return (
    <>
      <Field
        label={hasOne ? 'Another image' : 'An image'}
        hint={`PNG, JPEG, WebP, GIF or AVIF, ${bytes(max)} at most. It is anchored as well.`}
        problem={problem}
        control={(tied) => (
          <input
            {...tied}
            type="file"
            accept={types}
            onChange={({ currentTarget }) => setFile(currentTarget.files?.[0])}
          />
        )}
      />
      <div class="row">
        <Action
          isDisabled={file === undefined || problem !== undefined}
          run={send}
          done="The image has arrived"
        >
          Send the image
        </Action>
      </div>
    </>
  )
}
