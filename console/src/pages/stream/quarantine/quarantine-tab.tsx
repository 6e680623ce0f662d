import type { StreamAnswer } from '../../../editor/definition.ts'

export function QuarantineTab({ stream }: { readonly stream: StreamAnswer }) {
  return <p>{stream.name}</p>
}
