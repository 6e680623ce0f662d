import { hash } from 'node:crypto'
import type { MessageOutcome } from '../../src/contracts/connector.ts'
import { LruMap } from '../../src/core/lru-map.ts'

/** Clients, and packets of one client, whose times of receipt are remembered. */
const clientsMax = 1_000
const packetsPerClientMax = 100

interface Receipt {
  readonly payloadDigest: string
  readonly receivedAtUs: number
}

/** What identifies a packet that may be sent again: its client, and its packet id there. */
export interface PacketIdentity {
  readonly userId: string
  /** Devices of one user may well use one client id. */
  readonly deviceId?: string | undefined
  readonly clientId: string
  readonly packetId: number
  readonly payload: Buffer
}

/**
 * Times of receipt of packets whose readings carry no time of their own.
 *
 * A client that lost our acknowledgement sends the packet again, with the DUP flag and the same
 * packet id ([MQTT-3.3.1-1], [MQTT-4.4.0-1]). Given the first time of receipt again, its readings
 * keep their identity and are stored once (decisions.md#times-of-readings). Only as much as fits is
 * remembered.
 */
export class Retransmissions {
  readonly #clients = new LruMap<string, LruMap<number, Receipt>>(clientsMax)
  readonly #packetsMax: number

  /** @param packetsMax packets of one client that are remembered */
  constructor(packetsMax = packetsPerClientMax) {
    this.#packetsMax = packetsMax
  }

  remember(packet: PacketIdentity, receivedAtUs: number): void {
    const key = keyOf(packet)
    let receipts = this.#clients.get(key)
    if (!receipts) {
      receipts = new LruMap(this.#packetsMax)
      this.#clients.set(key, receipts)
    }
    receipts.set(packet.packetId, { payloadDigest: digestOf(packet), receivedAtUs })
  }

  /** The first time of receipt of a packet that is marked as sent again, if it is known. */
  find(packet: PacketIdentity): number | undefined {
    const receipt = this.#clients.get(keyOf(packet))?.get(packet.packetId)
    // A packet id is used again for other messages: only the same payload is the same packet.
    const isSame = receipt?.payloadDigest === digestOf(packet)
    return isSame ? receipt?.receivedAtUs : undefined
  }
}

/** Whether a reading of a message has no time of its own, so that it has to be remembered. */
export function usesReceiptTime({
  receivedAtUs,
  verdicts,
  countsFromReceipt = false,
}: MessageOutcome): boolean {
  return (
    countsFromReceipt ||
    verdicts.some(
      (verdict, index) => verdict.accepted && verdict.timestampUs === receivedAtUs + index,
    )
  )
}

function digestOf({ payload }: PacketIdentity): string {
  return hash('sha256', payload).slice(0, 16)
}

function keyOf({ userId, deviceId = '', clientId }: PacketIdentity): string {
  return `${userId} ${deviceId} ${clientId}`
}
