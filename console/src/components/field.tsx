import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

export interface FieldProps {
  readonly label: string
  readonly hint?: ComponentChildren
  /** What is wrong with what stands in it. */
  readonly problem?: string | undefined
  /** Draws the control with what ties it to label, hint and problem. */
  readonly control: (tied: Tied) => ComponentChildren
}

export interface Tied {
  readonly id: string
  readonly class: 'control'
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': 'true' | undefined
}

/** A control with its label, its hint and what is wrong with it. */
export function Field({ label, hint, problem, control }: FieldProps) {
  const id = useId()
  const described = [hint !== undefined && `${id}-hint`, problem !== undefined && `${id}-problem`]
  const ids = described.filter((one) => one !== false).join(' ')
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {control({
        id,
        class: 'control',
        'aria-describedby': ids === '' ? undefined : ids,
        'aria-invalid': problem === undefined ? undefined : 'true',
      })}
      {hint !== undefined && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {problem !== undefined && (
        <span class="problem" id={`${id}-problem`} role="alert">
          {problem}
        </span>
      )}
    </div>
  )
}
