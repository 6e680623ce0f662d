import { paths } from '../routing/paths.ts'
import { Page } from './page.tsx'

/** An address that leads nowhere. */
export function NotFound() {
  return (
    <Page title="There is no such page">
      <p>
        The address may be wrong, or of another version.{' '}
        <a href={paths.overview}>Go to the overview</a>
      </p>
    </Page>
  )
}
