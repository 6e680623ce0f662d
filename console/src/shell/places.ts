import { Activity, Bell, Boxes, Cable, Inbox, Send, ShieldAlert, Waypoints } from 'lucide'
import type { IconNode } from '../components/icon.tsx'
import { paths } from '../routing/paths.ts'

/** A place of the navigation. */
export interface Place {
  readonly name: string
  readonly href: string
  readonly icon: IconNode
  /** Permissions that its page needs: who has them not is not offered it. */
  readonly needs: readonly string[]
  /** Pressed after `g`. */
  readonly key?: string
}

export interface PlaceGroup {
  readonly name: string
  readonly places: readonly Place[]
}

export const placeGroups: readonly PlaceGroup[] = [
  {
    name: 'Data',
    places: [
      {
        name: 'Overview',
        href: paths.overview,
        icon: Activity,
        needs: ['streams:read', 'data:read'],
        key: 'o',
      },
      { name: 'Streams', href: paths.streams, icon: Waypoints, needs: ['streams:read'], key: 's' },
      {
        name: 'Quarantine',
        href: paths.quarantine,
        icon: ShieldAlert,
        needs: ['streams:read', 'data:read'],
        key: 'q',
      },
      { name: 'Vaults', href: paths.vaults, icon: Boxes, needs: ['vaults:read'], key: 'v' },
      { name: 'Sources', href: paths.sources, icon: Cable, needs: ['streams:read'] },
    ],
  },
  {
    name: 'Notifications',
    places: [
      { name: 'Alerts', href: paths.alerts, icon: Bell, needs: ['data:read'], key: 'a' },
      { name: 'Inbox', href: paths.inbox, icon: Inbox, needs: ['notifications:read'], key: 'i' },
      { name: 'Webhooks', href: paths.webhooks, icon: Send, needs: ['webhooks:read'], key: 'w' },
    ],
  },
]
