import { paths } from '../routing/paths.ts'
import { SessionMenu } from './session-menu.tsx'

/** What stands above every page. */
export function Header() {
  return (
    <header class="shell-header">
      <a class="brand" href={paths.overview}>
        Streamvault
      </a>
      <span class="spring" />
      <SessionMenu />
    </header>
  )
}
