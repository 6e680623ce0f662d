import { Search } from 'lucide'
import { may } from '../api/session.ts'
import { Icon } from '../components/icon.tsx'
import { paths } from '../routing/paths.ts'
import { InboxBadge } from './inbox-badge.tsx'
import { SessionMenu } from './session-menu.tsx'

/** What stands above every page. */
export function Header({ onSearch }: { readonly onSearch: () => void }) {
  return (
    <header class="shell-header">
      <a class="brand" href={paths.overview}>
        Streamvault
      </a>
      <button
        type="button"
        class="shell-search"
        aria-label="Search"
        aria-haspopup="dialog"
        onClick={onSearch}
      >
        <Icon of={Search} />
        <span>Search</span>
        <kbd aria-hidden="true">/</kbd>
      </button>
      <span class="spring" />
      {may('notifications:read') && <InboxBadge />}
      <SessionMenu />
    </header>
  )
}
