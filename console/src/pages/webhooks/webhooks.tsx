import type { Operations } from '../../../../clients/typescript/call.ts'
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

type WebhookQuery = NonNullable<Operations['listWebhooks']['query']>

const pageSize = 50
const refreshMs = 15_000

const choices = [
  ['', 'any'],
  ['active', 'active'],
  ['failing', 'failing'],
  ['paused', 'paused'],
  ['disabled', 'disabled'],
] as const

/** What the list is asked for to show these; of what is no choice, no filter is made. */
const asked: Readonly<Record<string, Pick<WebhookQuery, 'status' | 'failing'>>> = {
  active: { status: 'ACTIVE' },
  failing: { failing: true },
  paused: { status: 'PAUSED' },
  disabled: { status: 'DISABLED' },
}

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
  const filter = asked[query.get('state')]
  const webhooks = useResource(
    (signal) =>
      api.call('listWebhooks', { query: { ...filter, page, page_size: pageSize }, signal }),
    [page, filter],
    { everyMs: refreshMs },
  )
  return (
    <Loaded
      of={webhooks}
      isEmpty={({ content }) => content.length === 0}
      empty={<NoWebhooks isFiltered={filter !== undefined || page > 1} />}
    >
      {({ content, total_pages: pages }) => (
        <>
          <WebhookTable webhooks={content} onDone={() => webhooks.reload()} />
          <Pager
            before={page > 1 ? query.linkTo({ page: String(page - 1) }) : undefined}
            next={page < pages ? query.linkTo({ page: String(page + 1) }) : undefined}
            where={`page ${page} of ${pages}`}
          />
        </>
      )}
    </Loaded>
  )
}

function NoWebhooks({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No webhook meets the filter">
        <p>
          <a href={paths.webhooks}>Show all webhooks</a>
        </p>
      </Empty>
    )
  }
  return (
    <Empty title="No webhook yet">
      <p>
        A webhook is an address of yours that the service notifies of events: alerts, vaults,
        attachments. It is made with <code>POST /notifications/webhooks</code>, as{' '}
        <a href="/docs">the description of the API</a> says.
      </p>
    </Empty>
  )
}
