import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { tryWhileCutOff } from '../api/reconnect.ts'
import { lookAtSession, session } from '../api/session.ts'
import './shell.css'
import { ConnectionLine } from './connection-line.tsx'
import { Header } from './header.tsx'
import { BottomNavigation, SideNavigation } from './navigation.tsx'
import { SearchDialog } from './search/search-dialog.tsx'
import { ShortcutHelp } from './shortcut-help.tsx'
import { useShortcuts } from './shortcuts.ts'
import { SignInAgain } from './sign-in.tsx'

/** What is around every page. */
export function Shell({ children }: { readonly children: ComponentChildren }) {
  const [shown, setShown] = useState<'search' | 'keys'>()
  const onSearch = useCallback(() => setShown('search'), [])
  const onHelp = useCallback(() => setShown('keys'), [])
  const onClose = useCallback(() => setShown(undefined), [])
  useShortcuts({ onSearch, onHelp })
  useEffect(lookAtSessionWhenSeen, [])
  useEffect(tryWhileCutOff, [])
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <div class="shell-top">
        <Header onSearch={onSearch} />
        <ConnectionLine />
      </div>
      <SideNavigation />
      <main class="shell-main" id="main" tabIndex={-1}>
        {children}
      </main>
      <BottomNavigation />
      {shown === 'search' && <SearchDialog onClose={onClose} />}
      {shown === 'keys' && <ShortcutHelp onClose={onClose} />}
      {session.value.is === 'over' && <SignInAgain />}
    </div>
  )
}

/** What another tab has done is noticed when this one is looked at again. */
function lookAtSessionWhenSeen(): () => void {
  document.addEventListener('visibilitychange', seen)
  return () => document.removeEventListener('visibilitychange', seen)
}

function seen(): void {
  if (!document.hidden) void lookAtSession()
}
