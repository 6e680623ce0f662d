import { api } from '../../../api/client.ts'
import { useResource } from '../../../api/resource.ts'
import { may } from '../../../api/session.ts'
import { Pager } from '../../../components/pager.tsx'
import { Empty, Loaded } from '../../../components/states.tsx'
import { count } from '../../../formats/numbers.ts'
import { useQuery } from '../../../routing/query.ts'
import type { ShownVault, TabProps } from '../shown-vault.ts'
import { AttachmentTable } from './attachment-table.tsx'
import { StreamChoice } from './stream-choice.tsx'
import { Uploads } from './uploads.tsx'

type AssetStream = ShownVault['streams'][number]

const pageSize = 50
/** Attachments that have come make progress. */
const refreshMs = 10_000

/** Files that are attached to the asset streams of the vault. */
export function FilesTab({ vault }: TabProps) {
  const query = useQuery()
  const { streams, ledger } = vault
  const chosen = streams.find(({ asset_code: code }) => code === query.get('asset')) ?? streams[0]
  if (chosen === undefined) {
    return (
      <Empty title="Nothing to attach files to">
        <p>
          Files are attached to the asset streams that a vault lists, and the template of this vault
          asks for none. A vault of a template that names some, such as BOILER7, has them.
        </p>
      </Empty>
    )
  }
  return (
    <div class="stack">
      <StreamChoice streams={streams} chosen={chosen} />
      <OfStream key={chosen.id} stream={chosen} ledger={ledger} />
    </div>
  )
}

interface OfStreamProps {
  readonly stream: AssetStream
  readonly ledger: ShownVault['ledger']
}

function OfStream({ stream, ledger }: OfStreamProps) {
  const query = useQuery()
  const page = Math.max(1, Math.trunc(Number(query.get('page')) || 1))
  const asked = { page, page_size: pageSize }
  const found = useResource(
    (signal) =>
      api.call('listStreamAttachments', {
        path: { streamCode: stream.id },
        query: asked,
        signal,
      }),
    [stream.id, asked],
    { everyMs: refreshMs },
  )
  const target = { streamId: stream.id, ledger }
  return (
    <>
      {may('attachments:write') && <Uploads target={target} onAttachments={() => found.reload()} />}
      <Loaded
        of={found}
        lines={6}
        isEmpty={({ content }) => content.length === 0}
        empty={<NoFiles code={stream.asset_code} />}
      >
        {({ content, total_records: total, total_pages: pages }) => (
          <>
            <p class="soft" role="status">
              {count(total)} {total === 1 ? 'attachment' : 'attachments'}
            </p>
            <AttachmentTable attachments={content} onDone={() => found.reload()} />
            <Pager
              before={page > 1 ? query.linkTo({ page: String(page - 1) }) : undefined}
              next={page < pages ? query.linkTo({ page: String(page + 1) }) : undefined}
              where={`page ${count(page)} of ${count(pages)}`}
            />
          </>
        )}
      </Loaded>
    </>
  )
}

function NoFiles({ code }: { readonly code: string }) {
  return (
    <Empty title="No files yet">
      <p>
        A file that is attached to <bdi>{code}</bdi>, such as a report of an inspection, is kept as
        it is, and its digest goes onto the ledger: no one can change it unnoticed.
      </p>
      {may('attachments:write') ? (
        <p>Choose one above, or drop it there.</p>
      ) : (
        <p class="soft">A key with attachments:write can attach one.</p>
      )}
    </Empty>
  )
}
