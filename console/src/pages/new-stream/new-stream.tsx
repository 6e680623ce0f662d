import { Page } from '../../components/page.tsx'
import { FirstStream } from '../../first-stream/first-stream.tsx'

/** Another stream, in the same steps as the first. */
export function NewStream() {
  return (
    <Page title="New stream">
      <FirstStream />
    </Page>
  )
}
