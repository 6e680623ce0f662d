import type { ComponentChildren } from 'preact'

export interface ScrollAreaProps {
  /** What is in it. */
  readonly label: string
  readonly class?: string
  readonly children: ComponentChildren
}

/** What is scrolled by itself, also with the keys: so it takes the focus. */
export function ScrollArea({ label, class: name = '', children }: ScrollAreaProps) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard has to reach it
    <section class={`table-wrap ${name}`} aria-label={label} tabIndex={0}>
      {children}
    </section>
  )
}
