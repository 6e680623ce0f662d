import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { ErrorBoundary } from 'preact-iso/lazy'
import { LocationProvider, Route, Router } from 'preact-iso/router'
import { useResource } from './api/resource.ts'
import { loadSession, session } from './api/session.ts'
import { lazyPage } from './components/lazy-part.tsx'
import { NotFound } from './components/not-found.tsx'
import { PageBoundary } from './components/page-boundary.tsx'
import { Failed, Skeleton } from './components/states.tsx'
import { Shell } from './shell/shell.tsx'
import { SignInPage } from './shell/sign-in.tsx'

/** Each page is loaded when it is first gone to. */
const StreamsList = lazyPage(() =>
  import('./pages/streams/streams.tsx').then((page) => page.StreamsList),
)
const StreamPage = lazyPage(() =>
  import('./pages/stream/stream.tsx').then((page) => page.StreamPage),
)
const loadOverview = () => import('./pages/overview/overview.tsx').then((page) => page.Overview)
const Overview = lazyPage(loadOverview)
const NewStream = lazyPage(() =>
  import('./pages/new-stream/new-stream.tsx').then((page) => page.NewStream),
)
const RecordPage = lazyPage(() =>
  import('./pages/record/record.tsx').then((page) => page.RecordPage),
)
const Alerts = lazyPage(() => import('./pages/alerts/alerts.tsx').then((page) => page.Alerts))
const Sources = lazyPage(() => import('./pages/sources/sources.tsx').then((page) => page.Sources))
const Webhooks = lazyPage(() =>
  import('./pages/webhooks/webhooks.tsx').then((page) => page.Webhooks),
)
const Inbox = lazyPage(() => import('./pages/inbox/inbox.tsx').then((page) => page.Inbox))
const Sessions = lazyPage(() =>
  import('./pages/sessions/sessions.tsx').then((page) => page.Sessions),
)
const QuarantinePage = lazyPage(() =>
  import('./pages/quarantine/quarantine.tsx').then((page) => page.QuarantinePage),
)
const Vaults = lazyPage(() => import('./pages/vaults/vaults.tsx').then((page) => page.Vaults))
const NewVault = lazyPage(() =>
  import('./pages/vaults/new/new-vault.tsx').then((page) => page.NewVault),
)
const VaultPage = lazyPage(() => import('./pages/vault/vault.tsx').then((page) => page.VaultPage))

/** Most begin there: it is on its way while the service is asked who is signed in. What fails is tried again. */
if (['/', '/console', '/console/'].includes(location.pathname)) {
  void loadOverview().catch(() => undefined)
}

export function App() {
  const first = useResource(loadSession, [])
  const { is } = session.value
  if (is === 'unknown') {
    return (
      <main class="sign-in stack" id="main">
        <h1>Streamvault</h1>
        {first.failure ? <Failed failure={first.failure} of={first} /> : <Skeleton />}
      </main>
    )
  }
  if (is === 'out') return <SignInPage />
  return (
    <LocationProvider scope="/console">
      <Shell>
        <PageBoundary>
          <ErrorBoundary>
            <FirstWait>{(turns) => <Pages {...turns} />}</FirstWait>
          </ErrorBoundary>
        </PageBoundary>
      </Shell>
    </LocationProvider>
  )
}

interface LoadTurns {
  readonly onLoadStart: () => void
  readonly onLoadEnd: () => void
}

/** Until the first page is loaded there is none before it that could stay. */
function FirstWait({ children }: { readonly children: (turns: LoadTurns) => ComponentChildren }) {
  const [isWaiting, setWaiting] = useState(false)
  const hasShown = useRef(false)
  const onLoadStart = () => setWaiting(!hasShown.current)
  const onLoadEnd = () => {
    hasShown.current = true
    setWaiting(false)
  }
  return (
    <>
      {isWaiting && (
        <>
          <h1 class="visually-hidden">Streamvault</h1>
          <Skeleton />
        </>
      )}
      {children({ onLoadStart, onLoadEnd })}
    </>
  )
}

function Pages({ onLoadStart, onLoadEnd }: LoadTurns) {
  return (
    <Router onRouteChange={focusPage} onLoadStart={onLoadStart} onLoadEnd={onLoadEnd}>
      <Route path="/" component={Overview} />
      <Route path="/console" component={Overview} />
      <Route path="/console/streams/new" component={NewStream} />
      <Route path="/console/streams" component={StreamsList} />
      <Route path="/console/streams/:id/:tab?" component={StreamPage} />
      <Route path="/console/record/:type/:id" component={RecordPage} />
      <Route path="/console/alerts" component={Alerts} />
      <Route path="/console/sources" component={Sources} />
      <Route path="/console/webhooks" component={Webhooks} />
      <Route path="/console/inbox" component={Inbox} />
      <Route path="/console/signed-in" component={Sessions} />
      <Route path="/console/quarantine" component={QuarantinePage} />
      <Route path="/console/vaults" component={Vaults} />
      <Route path="/console/vaults/new" component={NewVault} />
      <Route path="/console/vaults/:id/:tab?" component={VaultPage} />
      <Route default component={NotFound} />
    </Router>
  )
}

/** Who goes to another page with the keyboard begins at its top, as after loading a document. */
function focusPage(): void {
  const main = document.getElementById('main')
  if (main === null || main.contains(document.activeElement)) return
  main.focus({ preventScroll: true })
  scrollTo(0, 0)
}
