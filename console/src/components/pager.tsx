import { ChevronLeft, ChevronRight, ChevronsLeft } from 'lucide'
import { Icon, type IconNode } from './icon.tsx'

export interface PagerProps {
  /** Addresses of pages; what is undefined is not there. */
  readonly first?: string | undefined
  readonly before?: string | undefined
  readonly next?: string | undefined
  /** Where one is: `page 2 of 7`. */
  readonly where?: string
}

/** The way through the pages of a list. Each has its address. */
export function Pager({ first, before, next, where }: PagerProps) {
  if (first === undefined && before === undefined && next === undefined) return null
  return (
    <nav class="row" aria-label="Pages of the list">
      <PageLink href={first} icon={ChevronsLeft} name="First" />
      <PageLink href={before} icon={ChevronLeft} name="Before" />
      <PageLink href={next} icon={ChevronRight} name="Next" />
      {where !== undefined && <span class="soft">{where}</span>}
    </nav>
  )
}

interface PageLinkProps {
  readonly href: string | undefined
  readonly icon: IconNode
  readonly name: string
}

function PageLink({ href, icon, name }: PageLinkProps) {
  if (href === undefined) return null
  return (
    <a class="button" href={href}>
      <Icon of={icon} />
      {name}
    </a>
  )
}
