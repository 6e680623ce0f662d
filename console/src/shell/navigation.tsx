import { Ellipsis } from 'lucide'
import { useEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { may } from '../api/session.ts'
import { Icon } from '../components/icon.tsx'
import { paths } from '../routing/paths.ts'
import { type Place, placeGroups } from './places.ts'

/** Whether a place is where one is: pages below it count. */
function isHere(path: string, href: string): boolean {
  const base = href.replace(/\/$/, '')
  return href === paths.overview ? path === base : path === base || path.startsWith(`${base}/`)
}

function offered(places: readonly Place[]): readonly Place[] {
  return places.filter(({ needs }) => may(...needs))
}

/** Beside the page, on screens that are wide enough. */
export function SideNavigation() {
  const { path } = useLocation()
  const groups = placeGroups
    .map(({ name, places }) => ({ name, places: offered(places) }))
    .filter(({ places }) => places.length > 0)
  return (
    <nav class="shell-nav" aria-label="Pages">
      {groups.map(({ name, places }) => (
        <section key={name} aria-label={name}>
          <h2>{name}</h2>
          <ul>
            {places.map((place) => (
              <li key={place.href}>
                <PlaceLink place={place} path={path} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  )
}

function PlaceLink({ place, path }: { readonly place: Place; readonly path: string }) {
  return (
    <a href={place.href} aria-current={isHere(path, place.href) ? 'page' : undefined}>
      <Icon of={place.icon} />
      {place.name}
    </a>
  )
}

const placesAtBottom = [
  paths.overview,
  paths.streams,
  paths.alerts,
  paths.inbox,
] as readonly string[]

/** Under the page on phones: four places, and all others. */
export function BottomNavigation() {
  const { path } = useLocation()
  const more = useRef<HTMLDivElement>(null)
  // A page that was chosen is seen: the menu over it goes.
  useEffect(() => more.current?.hidePopover(), [path])
  const places = offered(placeGroups.flatMap((group) => group.places))
  const [first, rest] = [
    places.filter(({ href }) => placesAtBottom.includes(href)),
    places.filter(({ href }) => !placesAtBottom.includes(href)),
  ]
  return (
    <nav class="bottom-nav" aria-label="Pages">
      {first.map((place) => (
        <PlaceLink key={place.href} place={place} path={path} />
      ))}
      <button type="button" popovertarget="more-places">
        <Icon of={Ellipsis} />
        More
      </button>
      <div id="more-places" ref={more} popover="auto" class="menu more-places">
        <ul>
          {rest.map((place) => (
            <li key={place.href}>
              <PlaceLink place={place} path={path} />
            </li>
          ))}
        </ul>
      </div>
    </nav>
  )
}
