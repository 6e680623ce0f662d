import { excerptOf, lineDiff } from '../formats/line-diff.ts'
import './diff-view.css'

export interface DiffViewProps {
  readonly label: string
  readonly before: string
  readonly after: string
}

/** Two texts line by line: what is gone, and what is new, with a few lines around. */
export function DiffView({ label, before, after }: DiffViewProps) {
  const lines = excerptOf(lineDiff(before.split('\n'), after.split('\n')))
  const isSame = lines.every(({ is }) => is === 'left-out')
  if (isSame) return <p class="soft">Both say the same.</p>
  return (
    // It scrolls, so the keyboard has to reach it.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- see above
    <div class="diff" role="region" aria-label={label} tabIndex={0}>
      {lines.map((line, at) => {
        if (line.is === 'left-out') {
          return (
            <div key={at} class="diff-left-out">
              {line.count === 1 ? '1 line' : `${line.count} lines`} as before
            </div>
          )
        }
        const { is, text } = line
        if (is === 'same') return <code key={at}>{text}</code>
        return is === 'gone' ? <del key={at}>{text}</del> : <ins key={at}>{text}</ins>
      })}
    </div>
  )
}
