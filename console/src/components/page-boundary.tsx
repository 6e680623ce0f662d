import type { ComponentChildren } from 'preact'
import { useEffect, useErrorBoundary } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { failureOf } from '../api/failure.ts'
import { Page } from './page.tsx'
import { Failed } from './states.tsx'

/** Tells a mistake of a page in its place; navigation stays, and other pages are as they were. */
export function PageBoundary({ children }: { readonly children: ComponentChildren }) {
  const { path } = useLocation()
  const [error, forget] = useErrorBoundary((thrown) => console.error(thrown))
  useEffect(forget, [path])
  if (error === undefined) return children
  return (
    <Page title="This page has failed">
      <Failed
        failure={failureOf(error)}
        of={{ reload: () => location.reload(), retryAtMs: undefined, loadedAtMs: undefined }}
      />
    </Page>
  )
}
