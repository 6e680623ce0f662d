import type { Tracing } from '../../core/tracing.ts'
import type { LiveParts } from '../../reading/live/tail-routes.ts'
import type { FleetChanges } from '../../streams/fleets/fleet-changes.ts'
import type { Access } from './access.ts'
import type { Anchoring } from './anchoring.ts'
import type { BackingUp } from './backing-up.ts'
import type { Delivering } from './delivering.ts'
import type { Domains } from './domains.ts'
import type { Engine } from './engine.ts'
import type { Fetching } from './fetching.ts'
import type { Filing } from './filing.ts'
import type { Ledgers } from './ledgers.ts'
import type { Transfers } from './transfers.ts'

interface Parts {
  readonly engine: Engine
  readonly domains: Domains
  readonly access: Access
  readonly live: LiveParts
  readonly fetching: Fetching
  readonly transfers: Transfers
  readonly backing: BackingUp
  readonly delivering: Delivering
  readonly filing: Filing
  readonly anchoring: Anchoring
  readonly ledgers: Ledgers
  readonly fleetChanges: FleetChanges
  readonly tracing: Tracing | undefined
}

/** The parts whose figures `GET /metrics` shows. */
export function measuredParts(parts: Parts) {
  const { engine, domains, access, fetching, transfers, delivering, filing, tracing } = parts
  return {
    ...engine,
    ...domains,
    ...transfers,
    ...fetching.measured,
    tails: parts.live.tails,
    auth: access.auth,
    lastSeen: access.lastSeen,
    backups: parts.backing.backups,
    delivering,
    filing,
    anchoring: parts.anchoring.measured,
    ledgers: parts.ledgers.measured,
    tracing,
    fleetChanges: parts.fleetChanges,
  }
}
