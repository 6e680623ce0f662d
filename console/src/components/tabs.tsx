import { useLayoutEffect, useRef } from 'preact/hooks'

export interface Tab {
  readonly name: string
  readonly href: string
  readonly isHere: boolean
}

/** Tabs that are addresses: each can be sent to somebody, and `back` leads to the one before. */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  const place = useRef<HTMLElement>(null)
  const here = tabs.find(({ isHere }) => isHere)?.href
  useLayoutEffect(() => {
    // On a phone they do not all fit: the one that is open is to be seen.
    const tab = place.current?.querySelector('[aria-current]')
    tab?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [here])
  return (
    <nav ref={place} class="tabs" aria-label={label}>
      {tabs.map(({ name, href, isHere }) => (
        <a key={href} href={href} aria-current={isHere ? 'page' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  )
}
