import { Page } from '../../components/page.tsx'
import { paths } from '../../routing/paths.ts'

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
