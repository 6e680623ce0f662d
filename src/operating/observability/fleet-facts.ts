import { type MetricName, metricHelp } from './metric-help.ts'
import type { CounterByReason, Metric } from './metrics.ts'

/** Fleets, as far as they are measured. */
export interface MeasuredFleets {
  readonly fleetDevices: {
    readonly waiting: number
    readonly size: number
    readonly refusals: Readonly<Record<'denied' | 'full', number>>
  }
  readonly newStreams: { readonly made: number }
  readonly fleetChanges: { readonly stats: { readonly changed: number; readonly failed: number } }
}

/** The figures of the devices of fleets, and of their streams. */
export function fleetMetrics({
  fleetDevices,
  newStreams,
  fleetChanges,
}: MeasuredFleets): readonly Metric[] {
  const figures: readonly [Metric['type'], MetricName, () => number][] = [
    ['gauge', 'fleet_devices_waiting', () => fleetDevices.waiting],
    ['gauge', 'fleet_devices_cached', () => fleetDevices.size],
    ['counter', 'fleet_streams_made_total', () => newStreams.made],
    ['counter', 'fleet_streams_changed_total', () => fleetChanges.stats.changed],
    ['counter', 'fleet_streams_left_total', () => fleetChanges.stats.failed],
  ]
  return figures.map(([type, name, value]) => ({ type, name, help: metricHelp[name], value }))
}

/** Messages that a fleet does not take. */
export function refusedDevices({ fleetDevices }: MeasuredFleets): CounterByReason {
  return {
    name: 'fleet_messages_refused_total',
    help: 'Messages of devices that their fleet does not take, by reason',
    values: () => fleetDevices.refusals,
  }
}
