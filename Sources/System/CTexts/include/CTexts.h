// Files of text that are compiled in: the scripts beside receipts and quotes, the files of a new
// plugin or pipeline, shells' completion scripts, the schemas of what commands print, and the steps
// of the store's database. A name between @ signs is filled in by the module that writes the file.
#pragma once

#pragma clang assume_nonnull begin

extern const char *const text_receipt_script;
extern const char *const text_quote_script;

extern const char *const text_sound_manifest;
extern const char *const text_file_manifest;
extern const char *const text_sound_pipeline;
extern const char *const text_file_pipeline;
extern const char *const text_test;
extern const char *const text_readme;
extern const char *const text_python;
extern const char *const text_shell;
extern const char *const text_c;
extern const char *const text_c_build;
extern const char *const text_swift;
extern const char *const text_swift_build;
extern const char *const text_pipeline;

extern const char *const text_bash_completion;
extern const char *const text_fish_completion;
extern const char *const text_zsh_completion;

// One for each file in Guides.
extern const char *const text_guide_first_steps;
extern const char *const text_guide_units;
extern const char *const text_guide_exit_codes;
extern const char *const text_guide_files;
extern const char *const text_guide_json;
extern const char *const text_guide_environment;

// One for each file in Store, in order.
extern const char *const text_schema_checkpoints_and_runs;
extern const char *const text_schema_export_folder;
extern const char *const text_schema_work;
extern const char *const text_schema_run_owners;
extern const char *const text_schema_origins;
extern const char *const text_schema_pins;
extern const char *const text_schema_batches;
extern const char *const text_schema_recordings;
extern const char *const text_schema_verification;
extern const char *const text_schema_change_log;
extern const char *const text_schema_note_names;
extern const char *const text_schema_format;
extern const char *const text_schema_receipts;
extern const char *const text_schema_claims;
extern const char *const text_schema_identity;
extern const char *const text_schema_places;
extern const char *const text_schema_stamps;
extern const char *const text_schema_watches;
extern const char *const text_schema_run_order;
extern const char *const text_schema_receipt_head;
extern const char *const text_schema_transcripts;
extern const char *const text_schema_open_claims;
extern const char *const text_schema_one_log;
extern const char *const text_schema_export_owners;
extern const char *const text_schema_word_corrections;
extern const char *const text_schema_run_states;
extern const char *const text_schema_export_sounds;
extern const char *const text_schema_page_checksums;
extern const char *const text_schema_warnings;
extern const char *const text_schema_deliveries;
extern const char *const text_schema_documents;
extern const char *const text_schema_delivered_versions;

extern const char *const text_search_tables;

// A text with its name.
typedef struct {
  const char *name;
  const char *text;
} text_named;

// The JSON Schemas of what commands print: JSONSchemas.c has the list. They refer to definitions,
// which are those of several.
extern const char *const text_json_definitions;
extern const text_named *const text_json_schemas;
extern const int text_json_schema_count;

#pragma clang assume_nonnull end
