import type { Client, PublishPacket } from 'aedes'

/** What one client has sent with QoS 2 and is being taken. */
interface Begun {
  readonly packets: Map<number, Promise<void>>
  /** The end of the packet that came last, and of all before it. */
  last: Promise<void>
}

/**
 * What clients have sent with QoS 2 and is being taken. The broker asks for each packet by itself, so
 * one that is sent again before the first has been answered would be taken, and passed on, twice
 * (method A of section 4.3.3, [MQTT-4.3.3-2]). A client has as many of them as the broker lets it.
 */
export class Exchanges {
  readonly #begun = new WeakMap<Client, Begun>()

  /**
   * Does what a packet asks for, unless it is being done: then it waits for that, and shares its end. Packets of a
   * client end in the order in which they came, which is that of their PUBRECs ([MQTT-4.6.0-3]): one that the disk had
   * no room for is tried again while others behind it are taken.
   */
  once(
    client: Client,
    { qos, messageId }: Pick<PublishPacket, 'qos' | 'messageId'>,
    act: () => Promise<void>,
  ): Promise<void> {
    if (qos !== 2 || messageId === undefined) return act()
    const begun = this.#begunBy(client)
    const known = begun.packets.get(messageId)
    if (known) return known
    const ended = inTurn(begun.last, act()).finally(() => begun.packets.delete(messageId))
    begun.packets.set(messageId, ended)
    begun.last = ended.catch(() => undefined)
    return ended
  }

  #begunBy(client: Client): Begun {
    const known = this.#begun.get(client)
    if (known) return known
    const begun = { packets: new Map<number, Promise<void>>(), last: Promise.resolve() }
    this.#begun.set(client, begun)
    return begun
  }
}

/** @param before does not fail */
async function inTurn(before: Promise<void>, acting: Promise<void>): Promise<void> {
  const [, acted] = await Promise.allSettled([before, acting])
  if (acted.status === 'rejected') throw acted.reason
}
