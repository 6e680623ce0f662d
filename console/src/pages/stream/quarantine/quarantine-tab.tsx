import type { StreamAnswer } from '../../../editor/definition.ts'
import { QuarantineView } from '../../../quarantine/quarantine-view.tsx'

/** Refused readings of one stream. */
export function QuarantineTab({ stream }: { readonly stream: StreamAnswer }) {
  return <QuarantineView stream={stream} />
}
