import type { ComponentChildren } from 'preact'
import { session } from '../api/session.ts'
import { ConnectionLine } from './connection-line.tsx'
import { Header } from './header.tsx'
import { BottomNavigation, SideNavigation } from './navigation.tsx'
import { SignInAgain } from './sign-in.tsx'

/** What is around every page. */
export function Shell({ children }: { readonly children: ComponentChildren }) {
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <div class="shell-top">
        <Header />
        <ConnectionLine />
      </div>
      <SideNavigation />
      <main class="shell-main" id="main" tabIndex={-1}>
        {children}
      </main>
      <BottomNavigation />
      {session.value.is === 'over' && <SignInAgain />}
    </div>
  )
}
