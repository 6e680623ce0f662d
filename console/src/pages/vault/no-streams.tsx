import { may } from '../../api/session.ts'
import { Empty } from '../../components/states.tsx'
import { paths } from '../../routing/paths.ts'

/** A vault without data streams: what they would be, and the first step. */
export function NoStreams({ isFirstPage }: { readonly isFirstPage: boolean }) {
  if (!isFirstPage) {
    return (
      <Empty title="No more streams">
        <p>Streams were deleted meanwhile. Go back to the pages before.</p>
      </Empty>
    )
  }
  return (
    <Empty title="No streams in this vault yet">
      <p>A stream takes the readings of a device that is a part of what the vault is about.</p>
      {may('streams:write') ? (
        <div class="row">
          <a class="button primary" href={paths.newStream}>
            Make one from a sample
          </a>
        </div>
      ) : (
        <p class="soft">A key with streams:write can make one.</p>
      )}
    </Empty>
  )
}
