import type { LifecycleEvent } from '../../outbox/lifecycle/lifecycle-event.ts'
import { type ShownSignature, toldUsers } from './signature.ts'
import { signatureBody } from './signature-body.ts'

interface Telling {
  readonly word: 'created' | 'completed' | 'failed' | 'error'
  /** The name of the attachment: a signature has none. */
  readonly name: string
  readonly actor?: LifecycleEvent['actor']
  readonly isQuiet?: boolean
}

/** The events of a signature, one for each who is told. */
export function eventsOfSignature(
  shown: ShownSignature,
  { word, name, actor, isQuiet = false }: Telling,
): readonly LifecycleEvent[] {
  const data = signatureBody(shown)
  return toldUsers(shown.signature).map((ownerId) => ({
    event: `signature.${word}` as const,
    ownerId,
    resourceId: shown.signature.id,
    name,
    actor,
    notice: { data, isQuiet },
  }))
}
