import { api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { may } from '../../api/session.ts'
import { ChoiceFilter } from '../../components/choice-filter.tsx'
import { NeedsPermission } from '../../components/needs-permission.tsx'
import { Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { Empty, Loaded } from '../../components/states.tsx'
import { paths } from '../../routing/paths.ts'
import { useQuery } from '../../routing/query.ts'
import { WebhookTable } from './webhook-table.tsx'

const pageSize = 50
const refreshMs = 15_000

/** What somebody wants to see: the list itself has no filter, so it is looked through here. */
const choices = [
  ['', 'any'],
  ['active', 'active'],
  ['failing', 'failing'],
  ['paused', 'paused'],
  ['disabled', 'disabled'],
] as const

/** Endpoints that are told of events. */
export function Webhooks() {
  return (
    <Page title="Webhooks">
      {may('webhooks:read') ? (
        <div class="stack">
          <div class="row" role="group" aria-label="Filters">
            <ChoiceFilter label="State" name="state" choices={choices} />
          </div>
          <WebhookPage />
        </div>
      ) : (
        <NeedsPermission scopes={['webhooks:read']} what="webhooks" />
      )}
    </Page>
  )
}

function WebhookPage() {
  const query = useQuery()
  const page = Math.max(1, Number.parseInt(query.get('page') || '1', 10) || 1)
  const wanted = query.get('state')
  const webhooks = useResource(
    (signal) => api.call('listWebhooks', { query: { page, page_size: pageSize }, signal }),
    [page],
    { everyMs: refreshMs },
  )
  return (
    <Loaded of={webhooks} isEmpty={(one) => one.total_records === 0} empty={<NoWebhooks />}>
      {({ content, total_pages: pages }) => {
        const shown = content.filter((webhook) => wanted === '' || isIn(webhook, wanted))
        return (
          <>
            {shown.length === 0 ? (
              <Empty title="No webhook here meets the filter">
                <p>
                  <a href={paths.webhooks}>Show all webhooks</a>
                </p>
              </Empty>
            ) : (
              <WebhookTable webhooks={shown} onDone={() => webhooks.reload()} />
            )}
            <Pager
              before={page > 1 ? query.linkTo({ page: String(page - 1) }) : undefined}
              next={page < pages ? query.linkTo({ page: String(page + 1) }) : undefined}
              where={`page ${page} of ${pages}`}
            />
          </>
        )
      }}
    </Loaded>
  )
}

function isIn(
  { status, consecutive_failures: failures }: { status: string; consecutive_failures: number },
  wanted: string,
) {
  return wanted === 'failing'
    ? failures > 0 && status === 'ACTIVE'
    : status.toLowerCase() === wanted
}

function NoWebhooks() {
  return (
    <Empty title="No webhook yet">
      <p>
        A webhook is an address of yours that the service tells of events: alerts, vaults,
        attachments. It is made with <code>POST /notifications/webhooks</code>, as{' '}
        <a href="/docs">the description of the API</a> says.
      </p>
    </Empty>
  )
}
