import type { Client, PublishPacket } from 'aedes'

/**
 * What clients have sent with QoS 2 and is being taken. The broker asks for each packet by itself, so
 * one that is sent again before the first has been answered would be taken, and passed on, twice
 * (method A of section 4.3.3, [MQTT-4.3.3-2]). A client has as many of them as the broker lets it.
 */
export class Exchanges {
  readonly #begun = new WeakMap<Client, Map<number, Promise<void>>>()

  /** Does what a packet asks for, unless it is being done: then it waits for that, and shares its end. */
  once(
    client: Client,
    { qos, messageId }: Pick<PublishPacket, 'qos' | 'messageId'>,
    act: () => Promise<void>,
  ): Promise<void> {
    if (qos !== 2 || messageId === undefined) return act()
    const begun = this.#begun.get(client) ?? new Map<number, Promise<void>>()
    this.#begun.set(client, begun)
    const known = begun.get(messageId)
    if (known) return known
    const acting = act().finally(() => begun.delete(messageId))
    begun.set(messageId, acting)
    return acting
  }
}
