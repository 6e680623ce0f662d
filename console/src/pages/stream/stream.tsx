import { useRoute } from 'preact-iso/router'
import { api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { may } from '../../api/session.ts'
import { lazyPart } from '../../components/lazy-part.tsx'
import { NeedsPermission } from '../../components/needs-permission.tsx'
import { Page } from '../../components/page.tsx'
import { Loaded } from '../../components/states.tsx'
import { type Tab, Tabs } from '../../components/tabs.tsx'
import { count } from '../../formats/numbers.ts'
import { paths, type StreamTab } from '../../routing/paths.ts'
import { StreamHead, type StreamStatus } from './head/stream-head.tsx'
import { StreamTrouble } from './head/stream-trouble.tsx'
import type { StreamDefinition } from './stream-definition.ts'
import './stream.css'

const LiveTab = lazyPart(() => import('./live/live-tab.tsx').then((tab) => tab.LiveTab))
const HistoryTab = lazyPart(() => import('./history/history-tab.tsx').then((tab) => tab.HistoryTab))
const StatusTab = lazyPart(() => import('./status/status-tab.tsx').then((tab) => tab.StatusTab))
const DefinitionTab = lazyPart(() =>
  import('./definition/definition-tab.tsx').then((tab) => tab.DefinitionTab),
)
const QuarantineTab = lazyPart(() =>
  import('./quarantine/quarantine-tab.tsx').then((tab) => tab.QuarantineTab),
)
const AccessTab = lazyPart(() => import('./access/access-tab.tsx').then((tab) => tab.AccessTab))

const tabs: readonly StreamTab[] = [
  'live',
  'history',
  'status',
  'definition',
  'quarantine',
  'access',
]

/** How often the state of the stream is asked for, while the page is seen. */
const statusMs = 5000

/** One stream: its head, and below it one of its tabs. */
export function StreamPage() {
  const { params } = useRoute()
  const streamId = params['id'] ?? ''
  if (!may('streams:read')) {
    return (
      <Page title="Stream">
        <NeedsPermission scopes={['streams:read']} what="streams" />
      </Page>
    )
  }
  return (
    <Stream
      key={streamId}
      streamId={streamId}
      tab={tabs.find((name) => name === params['tab']) ?? usualTab()}
    />
  )
}

/** Readings, for those who may see them. */
function usualTab(): StreamTab {
  return may('data:read') ? 'live' : 'status'
}

function Stream({ streamId, tab }: { readonly streamId: string; readonly tab: StreamTab }) {
  const path = { streamId }
  const stream = useResource((signal) => api.call('readStream', { path, signal }), [streamId])
  const status = useResource(
    (signal) => api.call('readStreamStatus', { path, signal }),
    [streamId],
    {
      everyMs: statusMs,
    },
  )
  const reload = () => {
    stream.reload()
    status.reload()
  }
  if (stream.data === undefined) {
    return (
      <Page title="Stream">
        <Loaded of={stream} lines={10}>
          {() => null}
        </Loaded>
      </Page>
    )
  }
  return (
    <Loaded of={stream}>
      {(definition) => (
        <Page
          title={definition.name}
          beside={<StreamHead stream={definition} of={status} reload={reload} />}
        >
          <StreamTrouble stream={definition} of={status} reload={reload} />
          <Tabs label="Parts of the stream" tabs={tabsOf(definition, status.data, tab)} />
          <TabOf tab={tab} stream={definition} status={status} reload={reload} />
        </Page>
      )}
    </Loaded>
  )
}

function tabsOf(
  { streamId, version }: StreamDefinition,
  status: StreamStatus | undefined,
  tab: StreamTab,
): readonly Tab[] {
  const quarantined = status?.counters.quarantined ?? 0
  const names: Readonly<Record<StreamTab, string>> = {
    live: 'Live',
    history: 'History',
    status: 'Status',
    definition: `Definition v${version}`,
    quarantine: quarantined > 0 ? `Quarantine ${count(quarantined)}` : 'Quarantine',
    access: 'Access',
  }
  const offered = tabs.filter((name) => may('data:read') || !needsData.includes(name))
  return offered.map((name) => ({
    name: names[name],
    href: paths.stream(streamId, name),
    isHere: name === tab,
  }))
}

const needsData: readonly StreamTab[] = ['live', 'history', 'quarantine']

interface TabProps {
  readonly tab: StreamTab
  readonly stream: StreamDefinition
  readonly status: ReturnType<typeof useResource<StreamStatus>>
  readonly reload: () => void
}

function TabOf({ tab, stream, status, reload }: TabProps) {
  if (tab === 'history') return <HistoryTab stream={stream} />
  // A failure after the first answer stands above the tabs already.
  if (tab === 'status')
    return <StatusTab of={status.data ? { ...status, failure: undefined } : status} />
  if (tab === 'definition') return <DefinitionTab stream={stream} reload={reload} />
  if (tab === 'quarantine') return <QuarantineTab stream={stream} />
  if (tab === 'access') return <AccessTab stream={stream} />
  return <LiveTab stream={stream} />
}
