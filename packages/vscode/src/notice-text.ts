/**
 * The editor makes a link of `[words](command:…)` in a notification, and runs the command when somebody presses it. Texts of
 * agents, strangers and settings files are in notifications: with a space in between it is only text.
 */
export const noticeText = (text: string): string => text.replaceAll('](', '] (');
