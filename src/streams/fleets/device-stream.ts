import type { DataStream } from '../data-streams/data-stream-store.ts'
import type { StreamDefinition } from '../data-streams/definition.ts'
import { ownTopicOf } from '../data-streams/source-kinds.ts'
import { type Fleet, tagsOfDevice } from './fleet.ts'
import { topicOfDevice } from './fleet-topic.ts'

/**
 * The definition of one device's stream: that of the fleet, with the topic of the device in place of the fleet's.
 *
 * @param before the stream that there is, whose name and own tags stay
 */
export function definitionOfDevice(
  fleet: Fleet,
  device: string,
  before?: Pick<DataStream, 'name' | 'tags'>,
): StreamDefinition {
  const { deviceField: _, source, ...definition } = fleet.definition
  return {
    ...definition,
    source: withTopicOf(source, device),
    name: before?.name ?? device,
    vaultId: fleet.vaultId,
    tags: tagsOfDevice(fleet, device, before?.tags),
  }
}

function withTopicOf(source: StreamDefinition['source'], device: string) {
  const fleetTopic = ownTopicOf(source)
  if (fleetTopic === undefined) return source
  const { topic: _, ...others } = source
  const topic = topicOfDevice(fleetTopic, device)
  return topic === undefined ? others : { ...others, topic }
}
