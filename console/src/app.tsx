import lazy, { ErrorBoundary } from 'preact-iso/lazy'
import { LocationProvider, Route, Router } from 'preact-iso/router'
import { useResource } from './api/resource.ts'
import { loadSession, session } from './api/session.ts'
import { Failed, Skeleton } from './components/states.tsx'
import { NotFound } from './pages/not-found/not-found.tsx'
import { Shell } from './shell/shell.tsx'
import { SignInPage } from './shell/sign-in.tsx'

/** Each page is loaded when it is first gone to. */
const StreamsList = lazy(() =>
  import('./pages/streams/streams.tsx').then((page) => page.StreamsList),
)
const StreamPage = lazy(() => import('./pages/stream/stream.tsx').then((page) => page.StreamPage))
const Overview = lazy(() => import('./pages/overview/overview.tsx').then((page) => page.Overview))

export function App() {
  const first = useResource(loadSession, [])
  const { is } = session.value
  if (is === 'unknown') {
    return first.failure ? <Failed failure={first.failure} of={first} /> : <Skeleton />
  }
  if (is === 'out') return <SignInPage />
  return (
    <LocationProvider scope="/console">
      <Shell>
        <ErrorBoundary onError={(error) => console.error(error)}>
          <Pages />
        </ErrorBoundary>
      </Shell>
    </LocationProvider>
  )
}

function Pages() {
  return (
    <Router onRouteChange={focusPage}>
      <Route path="/" component={Overview} />
      <Route path="/console" component={Overview} />
      <Route path="/console/streams" component={StreamsList} />
      <Route path="/console/streams/:id/:tab?" component={StreamPage} />
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
