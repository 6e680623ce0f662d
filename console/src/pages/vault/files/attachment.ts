import type { Operations } from '../../../../../clients/typescript/call.ts'

export type Attachment = Operations['listAttachments']['answer']['content'][number]
