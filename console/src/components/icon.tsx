import { createElement } from 'preact'

/** An icon of lucide: its elements with their attributes. */
export type IconNode = readonly (readonly [
  string,
  Readonly<Record<string, string | number | undefined>>,
])[]

export interface IconProps {
  readonly of: IconNode
  /** What it means, where no text beside it says so. */
  readonly label?: string
}

/** Draws the nodes of an icon, which is no markup: nothing of it is parsed. */
export function Icon({ of, label }: IconProps) {
  const said =
    label === undefined ? { 'aria-hidden': true } : ({ role: 'img', 'aria-label': label } as const)
  return (
    <svg
      class="icon"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
      {...said}
    >
      {of.map(([tag, attributes], at) => createElement(tag, { key: at, ...attributes }))}
    </svg>
  )
}
