import type { Operations } from '../../../../clients/typescript/call.ts'

/** A stream as its page knows it. */
export type StreamDefinition = Operations['readStream']['answer']
