import { Badge, type Tone } from './badge.tsx'

interface AnchorMeaning {
  readonly tone: Tone
  readonly says: string
  readonly meaning: string
}

/** How far something is on its way onto a ledger. */
const meanings: Readonly<Record<string, AnchorMeaning>> = {
  SERVICE_RECEIVED: {
    tone: 'quiet',
    says: 'received',
    meaning: 'It is kept, and goes onto the ledger by itself.',
  },
  UPLOAD_PENDING: {
    tone: 'quiet',
    says: 'waits for its file',
    meaning: 'Nothing goes onto the ledger before the file is there.',
  },
  METADATA_STORED: {
    tone: 'quiet',
    says: 'on its way',
    meaning: 'What goes onto the ledger is fixed, and will not change any more.',
  },
  LEDGER_SUBMITTED: {
    tone: 'quiet',
    says: 'submitted',
    meaning: 'The ledger has it, and has not confirmed it yet.',
  },
  COMPLETED: { tone: 'good', says: 'anchored', meaning: 'It is final on the ledger.' },
  FAILED: {
    tone: 'bad',
    says: 'refused',
    meaning: 'The ledger refuses it, or the file is not accepted. To try again would not help.',
  },
  ERROR: {
    tone: 'bad',
    says: 'not anchored',
    meaning: 'The ledger did not take it in time. It can be tried again.',
  },
}

const unknown: AnchorMeaning = { tone: 'quiet', says: '', meaning: '' }

/** What a state of anchoring means, in a sentence. */
export function anchorMeaning(status: string): string {
  return (meanings[status] ?? unknown).meaning
}

/** How far something is on its way onto a ledger; what that means is its title. */
export function AnchorState({ status }: { readonly status: string }) {
  const { tone, says, meaning } = meanings[status] ?? { ...unknown, says: status }
  return (
    <span title={meaning}>
      <Badge tone={tone}>{says}</Badge>
    </span>
  )
}
