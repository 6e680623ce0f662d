import { DomainError } from '../../core/errors.ts'
import { samplesOfMessages } from '../../streams/data-streams/message-samples.ts'
import type { ProposalNeeds } from '../../streams/data-streams/proposal-draft.ts'
import { type Proposal, proposeStream } from '../../streams/data-streams/stream-proposal.ts'
import type { UnroutedTopic } from './unrouted-messages.ts'

/**
 * What a stream of a topic could be defined as, by the messages that are kept of it.
 *
 * @throws DomainError `invalid_request`, saying why nothing can be proposed
 */
export function proposedStreamOf(
  { topic, samples }: UnroutedTopic,
  needs: Pick<ProposalNeeds, 'judgeOf' | 'nowUs'>,
): Proposal {
  const whole = samples.filter(({ bytes, length }) => length > 0 && bytes.length === length)
  if (whole.length === 0) {
    throw unproposable('its messages are empty, or too long for one to be kept')
  }
  const messages = whole.map(({ bytes }) => ({ topic, payload: bytes }))
  const found = proposalOf(messages, needs)
  const source = { ...found.proposal.source, topic }
  return { ...found, proposal: { ...found.proposal, source } }
}

function proposalOf(
  messages: Parameters<typeof samplesOfMessages>[0],
  needs: Pick<ProposalNeeds, 'judgeOf' | 'nowUs'>,
): Proposal {
  const samples = samplesOfMessages(messages, needs.nowUs)
  const [problem] = samples.unreadable.values()
  if (samples.messages.length === 0) throw unproposable(`its messages cannot be read: ${problem}`)
  try {
    return proposeStream(samples, needs)
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'invalid_request') throw error
    throw unproposable(error.message)
  }
}

function unproposable(reason: string): DomainError {
  const message = `nothing can be proposed for the topic, define its stream by hand: ${reason}`
  return new DomainError('invalid_request', message, {
    details: [{ path: 'topic', message: reason }],
  })
}
