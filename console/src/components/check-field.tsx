import type { ComponentChildren } from 'preact'
import './check-field.css'

export interface CheckFieldProps {
  readonly isChecked: boolean
  readonly onChecked: (isChecked: boolean) => void
  /** Of radio buttons: what they have in common. */
  readonly group?: string
  readonly children: ComponentChildren
}

/** A box to tick, or one of several, with what it stands for. */
export function CheckField({ isChecked, onChecked, group, children }: CheckFieldProps) {
  return (
    <label class="check-field">
      <input
        type={group === undefined ? 'checkbox' : 'radio'}
        name={group}
        checked={isChecked}
        onChange={({ currentTarget }) => onChecked(currentTarget.checked)}
      />
      <span>{children}</span>
    </label>
  )
}
