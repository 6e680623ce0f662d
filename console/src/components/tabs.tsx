export interface Tab {
  readonly name: string
  readonly href: string
  readonly isHere: boolean
}

/** Tabs that are addresses: each can be sent to somebody, and `back` leads to the one before. */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ name, href, isHere }) => (
        <a key={href} href={href} aria-current={isHere ? 'page' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  )
}
