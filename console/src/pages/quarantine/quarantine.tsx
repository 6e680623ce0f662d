import { may } from '../../api/session.ts'
import { NeedsPermission } from '../../components/needs-permission.tsx'
import { Page } from '../../components/page.tsx'
import { QuarantineView } from '../../quarantine/quarantine-view.tsx'

const scopes = ['streams:read', 'data:read'] as const

/** Refused readings of all streams. */
export function QuarantinePage() {
  return (
    <Page title="Quarantine">
      {may(...scopes) ? (
        <QuarantineView />
      ) : (
        <NeedsPermission scopes={scopes} what="refused readings" />
      )}
    </Page>
  )
}
