#pragma once
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/pkcs7.h>
#include <openssl/rand.h>
#include <openssl/ts.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

// A name as RFC 2253 writes it, with letters that are not ASCII left as they are: a macro of macros.
static inline unsigned long spool_name_form(void) {
  return XN_FLAG_RFC2253 & ~(unsigned long)ASN1_STRFLGS_ESC_MSB;
}
// Likewise: what an error is about, and in which part of libcrypto.
static inline int spool_error_reason(unsigned long code) { return ERR_GET_REASON(code); }
static inline int spool_error_library(unsigned long code) { return ERR_GET_LIB(code); }
