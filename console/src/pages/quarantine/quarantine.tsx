import { Page } from '../../components/page.tsx'
import { QuarantineView } from '../../quarantine/quarantine-view.tsx'

/** Refused readings of all streams. */
export function QuarantinePage() {
  return (
    <Page title="Quarantine">
      <QuarantineView />
    </Page>
  )
}
