import './name-link.css'

export interface NameLinkProps {
  readonly href: string
  /** What somebody called it: in any script, and of any length. */
  readonly name: string
}

/** Names beyond this are cut where they stand, and are whole in their title. */
const shownMax = 60

/** A link that is called as a user has named what it leads to. */
export function NameLink({ href, name }: NameLinkProps) {
  return (
    <a class="name-link" href={href} title={name.length > shownMax ? name : undefined}>
      <bdi>{name}</bdi>
    </a>
  )
}
