import { api } from '../../api/client.ts'
import { nextCursorIn } from '../../api/next-page.ts'
import { useResource } from '../../api/resource.ts'
import { may } from '../../api/session.ts'
import { ChoiceFilter } from '../../components/choice-filter.tsx'
import { NeedsPermission } from '../../components/needs-permission.tsx'
import { Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { Empty, Loaded } from '../../components/states.tsx'
import { paths } from '../../routing/paths.ts'
import { useQuery } from '../../routing/query.ts'
import { AlertTable } from './alert-table.tsx'
import { alertStates, choiceOf, severities } from './listed-alerts.ts'

const pageSize = 50
const refreshMs = 15_000

/** Alerts of all streams, newest first. */
export function Alerts() {
  const query = useQuery()
  if (!may('data:read')) {
    return (
      <Page title="Alerts">
        <NeedsPermission scopes={['data:read']} what="alerts" />
      </Page>
    )
  }
  const isFiltered = ['state', 'severity', 'stream'].some((name) => query.get(name) !== '')
  return (
    <Page title="Alerts">
      <div class="stack">
        <div class="row" role="group" aria-label="Filters">
          <ChoiceFilter
            label="State"
            name="state"
            choices={[['', 'any'], ...alertStates.map(same)]}
          />
          <ChoiceFilter
            label="Severity"
            name="severity"
            choices={[['', 'any'], ...severities.map(same)]}
          />
          {isFiltered && <a href={paths.alerts}>No filter</a>}
        </div>
        {query.get('stream') !== '' && (
          <p>
            Only of one stream:{' '}
            <a href={paths.stream(query.get('stream'))}>{query.get('stream')}</a>
          </p>
        )}
        <AlertPage isFiltered={isFiltered} />
      </div>
    </Page>
  )
}

function AlertPage({ isFiltered }: { readonly isFiltered: boolean }) {
  const query = useQuery()
  const asked = {
    state: choiceOf(alertStates, query.get('state')),
    severity: choiceOf(severities, query.get('severity')),
    streamId: query.get('stream') || undefined,
    cursor: query.get('cursor') || undefined,
    limit: pageSize,
  }
  const alerts = useResource(
    async (signal) => {
      const { answer, headers } = await api.callRaw('listAlerts', { query: asked, signal })
      return { alerts: answer, next: nextCursorIn(headers) }
    },
    [asked],
    { everyMs: refreshMs },
  )
  return (
    <Loaded
      of={alerts}
      lines={10}
      isEmpty={(page) => page.alerts.length === 0}
      empty={<NoAlerts isFiltered={isFiltered} />}
    >
      {(page) => (
        <>
          <AlertTable alerts={page.alerts} onDone={() => alerts.reload()} />
          <Pager
            first={asked.cursor === undefined ? undefined : query.linkTo({ cursor: undefined })}
            next={page.next === undefined ? undefined : query.linkTo({ cursor: page.next })}
          />
        </>
      )}
    </Loaded>
  )
}

function NoAlerts({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No alert meets the filter">
        <p>
          <a href={paths.alerts}>Show all alerts</a>
        </p>
      </Empty>
    )
  }
  return (
    <Empty title="No alert yet">
      <p>
        An alert begins when a reading breaks a rule of its stream, such as a temperature above 80
        for five minutes, or when nothing comes for some time. Rules are a part of the definition of
        a stream.
      </p>
      <p>
        <a href={paths.streams}>Choose a stream to give a rule to</a>
      </p>
    </Empty>
  )
}

function same(value: string): readonly [string, string] {
  return [value, value]
}
